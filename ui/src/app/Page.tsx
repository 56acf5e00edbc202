/** The frame around every view, and which view an address is. */

import { useQuery } from "@tanstack/react-query";
import { Component, lazy, type ReactNode, Suspense, useEffect, useRef } from "react";
import { Link, Route, Switch, useLocation } from "wouter";
import { ApiError } from "../api/client";
import { useLiveUpdates } from "../api/live";
import { session } from "../api/queries";
import { ROOT } from "../api/root";
import { Icon } from "../parts/icons";
import { ErrorMessage, Skeleton } from "../parts/QueryResult";
import { Help } from "./Help";
import { Login, LogOut } from "./Login";
import { SearchBox } from "./SearchBox";
import { useTheme } from "./theme";

const Find = lazy(() => import("../home/Home"));
const EstateMap = lazy(() => import("../map/DatasetMap"));
const Explore = lazy(() => import("../explore/Explore"));
const Runs = lazy(() => import("../run/Runs"));
const Run = lazy(() => import("../run/Run"));
const Diff = lazy(() => import("../run/Diff"));
const Rows = lazy(() => import("../rows/Rows"));
const Records = lazy(() => import("../records/Records"));
const Audit = lazy(() => import("../audit/Audit"));
const Keys = lazy(() => import("../access/Keys"));

const NAV_ITEMS: [path: string, word: string, also: string[]][] = [
  ["/", "Home", ["/explore", "/rows"]],
  ["/map", "Map", []],
  ["/runs", "Runs", ["/run", "/diff"]],
  ["/records", "Records", []],
  ["/audit", "Audit", []],
];

export function Page() {
  const who = useQuery(session);
  const [theme, toggleTheme] = useTheme();
  const live = useLiveUpdates(who.data !== undefined);
  if (who.error instanceof ApiError && who.error.status === 401) return <Login />;
  const admin = who.data?.scopes.includes("admin") ?? false;
  return (
    <div className="shell">
      <a className="skip" href="#main">
        Skip to content
      </a>
      <header className="bar">
        <Link href="/" className="mark">
          <img src={`${ROOT}/mark.svg`} width="20" height="20" alt="" />
          Headwater
        </Link>
        <Navigation admin={admin} />
        <SearchBox />
        <div className="row">
          <span
            className="dim"
            title={live ? "Connected: new runs appear as they arrive" : "Not connected: reload to see new runs"}
          >
            {live ? "live" : "not live"}
          </span>
          <button
            type="button"
            className="quiet"
            onClick={toggleTheme}
            aria-label={theme === "dark" ? "Use light colours" : "Use dark colours"}
          >
            <Icon name={theme === "dark" ? "sun" : "moon"} />
          </button>
          <Help />
          {who.data?.key_required && <LogOut name={who.data.name} />}
        </div>
      </header>
      <Main>
        {who.error ? <ErrorMessage error={who.error} again={() => who.refetch()} /> : <Views admin={admin} />}
      </Main>
    </div>
  );
}

function Navigation({ admin }: { admin: boolean }) {
  const [location] = useLocation();
  const places = admin ? [...NAV_ITEMS, ["/keys", "Keys", []] as (typeof NAV_ITEMS)[number]] : NAV_ITEMS;
  return (
    <nav aria-label="Views">
      {places.map(([path, word, also]) => (
        <Link key={path} href={path} aria-current={location === path || also.includes(location) ? "page" : undefined}>
          {word}
        </Link>
      ))}
    </nav>
  );
}

function Main({ children }: { children: ReactNode }) {
  const [location] = useLocation();
  const main = useRef<HTMLElement>(null);
  // A keyboard user who opens another view starts at its top.
  // biome-ignore lint/correctness/useExhaustiveDependencies: when the view is another
  useEffect(() => {
    main.current?.scrollTo(0, 0);
  }, [location]);
  return (
    <main id="main" ref={main} tabIndex={-1}>
      <ErrorBoundary key={location}>
        <Suspense
          fallback={
            <div className="sheet">
              <Skeleton />
            </div>
          }
        >
          {children}
        </Suspense>
      </ErrorBoundary>
    </main>
  );
}

function Views({ admin }: { admin: boolean }) {
  return (
    <Switch>
      <Route path="/" component={Find} />
      <Route path="/map" component={EstateMap} />
      <Route path="/explore" component={Explore} />
      <Route path="/runs" component={Runs} />
      <Route path="/run" component={Run} />
      <Route path="/diff" component={Diff} />
      <Route path="/rows" component={Rows} />
      <Route path="/records" component={Records} />
      <Route path="/audit" component={Audit} />
      {admin && <Route path="/keys" component={Keys} />}
      <Route>
        <div className="sheet">
          <h1>Page not found</h1>
          <p>
            <Link href="/">Search your lineage</Link>
          </p>
        </div>
      </Route>
    </Switch>
  );
}

/** Shows an error of a view in its place; the rest of the page keeps working. */
class ErrorBoundary extends Component<{ children: ReactNode }, { error: unknown }> {
  override state = { error: null as unknown };
  static getDerivedStateFromError(error: unknown) {
    return { error };
  }
  override render() {
    if (this.state.error === null) return this.props.children;
    return (
      <div className="sheet">
        <h1>This view could not be displayed</h1>
        <ErrorMessage error={this.state.error} again={() => this.setState({ error: null })} />
      </div>
    );
  }
}
