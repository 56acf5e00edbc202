import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { Router } from "wouter";
import { ApiError } from "./api/client";
import { ROOT } from "./api/root";
import { Page } from "./app/Page";
import "./styles/tokens.css";
import "./styles/base.css";
import "./styles/shell.css";

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 10_000,
      refetchOnWindowFocus: false,
      // What the server refused it will refuse again; what it could not do it may be able to do now.
      retry: (failures, error) =>
        failures < 2 && error instanceof ApiError && (error.status === 0 || error.status >= 500),
    },
  },
});

const place = document.getElementById("page");
if (place === null) throw new Error("index.html has no root element");
createRoot(place).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <Router base={ROOT}>
        <Page />
      </Router>
    </QueryClientProvider>
  </StrictMode>,
);
