/** The frame around every view, and which view an address is. */

import { useQuery } from "@tanstack/react-query";
import { Component, lazy, type ReactNode, Suspense, useEffect, useRef } from "react";
import { Link, Route, Switch, useLocation } from "wouter";
import { Trouble } from "../api/client";
import { useLive } from "../api/live";
import { session } from "../api/questions";
import { ROOT } from "../api/root";
import { Skeleton, Wrong } from "../parts/Answer";
import { Icon } from "../parts/icons";
import { Help } from "./Help";
import { Login, LogOut } from "./Login";
import { SearchBox } from "./SearchBox";
import { useTheme } from "./theme";

const Find = lazy(() => import("../find/Find"));
const EstateMap = lazy(() => import("../map/EstateMap"));
const Explore = lazy(() => import("../explore/Explore"));
const Runs = lazy(() => import("../run/Runs"));
const Run = lazy(() => import("../run/Run"));
const Diff = lazy(() => import("../run/Diff"));
const Rows = lazy(() => import("../rows/Rows"));
const Records = lazy(() => import("../records/Records"));
const Audit = lazy(() => import("../audit/Audit"));
const Keys = lazy(() => import("../access/Keys"));

const PLACES: [path: string, word: string, also: string[]][] = [
  ["/", "Find", ["/explore", "/rows"]],
  ["/map", "Map", []],
  ["/runs", "Runs", ["/run", "/diff"]],
  ["/records", "Records", []],
  ["/audit", "Audit", []],
];

export function Page() {
  const who = useQuery(session);
  const [theme, turn] = useTheme();
  const live = useLive(who.data !== undefined);
  if (who.error instanceof Trouble && who.error.status === 401) return <Login />;
  const admin = who.data?.scopes.includes("admin") ?? false;
  return (
    <div className="shell">
      <a className="skip" href="#main">
        To the content
      </a>
      <header className="bar">
        <Link href="/" className="mark">
          <img src={`${ROOT}/mark.svg`} width="20" height="20" alt="" />
          Headwater
        </Link>
        <Places admin={admin} />
        <SearchBox />
        <div className="row">
          <span
            className="dim"
            title={live ? "New runs show as they come" : "Not connected: what is new shows on reload"}
          >
            {live ? "live" : "not live"}
          </span>
          <button
            type="button"
            className="quiet"
            onClick={turn}
            aria-label={theme === "dark" ? "Light colours" : "Dark colours"}
          >
            <Icon name={theme === "dark" ? "sun" : "moon"} />
          </button>
          <Help />
          {who.data?.key_required && <LogOut name={who.data.name} />}
        </div>
      </header>
      <Main>{who.error ? <Wrong error={who.error} again={() => who.refetch()} /> : <Views admin={admin} />}</Main>
    </div>
  );
}

function Places({ admin }: { admin: boolean }) {
  const [here] = useLocation();
  const places = admin ? [...PLACES, ["/keys", "Keys", []] as (typeof PLACES)[number]] : PLACES;
  return (
    <nav aria-label="Places">
      {places.map(([path, word, also]) => (
        <Link key={path} href={path} aria-current={here === path || also.includes(here) ? "page" : undefined}>
          {word}
        </Link>
      ))}
    </nav>
  );
}

function Main({ children }: { children: ReactNode }) {
  const [here] = useLocation();
  const main = useRef<HTMLElement>(null);
  // A reader who went to another view by the keyboard goes on from its beginning.
  // biome-ignore lint/correctness/useExhaustiveDependencies: when the view is another
  useEffect(() => {
    main.current?.scrollTo(0, 0);
  }, [here]);
  return (
    <main id="main" ref={main} tabIndex={-1}>
      <Caught key={here}>
        <Suspense
          fallback={
            <div className="sheet">
              <Skeleton />
            </div>
          }
        >
          {children}
        </Suspense>
      </Caught>
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
          <h1>There is nothing at this address</h1>
          <p>
            <Link href="/">Find a dataset, a column, a job or a run.</Link>
          </p>
        </div>
      </Route>
    </Switch>
  );
}

/** A fault of a view is shown in its place; the rest of the page goes on. */
class Caught extends Component<{ children: ReactNode }, { error: unknown }> {
  override state = { error: null as unknown };
  static getDerivedStateFromError(error: unknown) {
    return { error };
  }
  override render() {
    if (this.state.error === null) return this.props.children;
    return (
      <div className="sheet">
        <h1>This view failed</h1>
        <Wrong error={this.state.error} again={() => this.setState({ error: null })} />
      </div>
    );
  }
}
