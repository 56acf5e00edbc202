import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

export default defineConfig({
  plugins: [react()],
  // Chunks name each other relative to themselves, and the server completes those in index.html: see src/api/root.ts.
  base: "./",
  build: {
    outDir: "../src/headwater/server/page",
    emptyOutDir: true,
    // The content policy lets nothing inline through, not even an image as small as that.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 2000,
  },
  // The server compares where a change comes from with whom it was sent to.
  server: { proxy: { "/api": { target: "http://127.0.0.1:8321", changeOrigin: false } } },
  test: { include: ["src/**/*.test.ts"], environment: "node" },
});
