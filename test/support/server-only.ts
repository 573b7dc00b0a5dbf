// `server-only` guards client bundles; outside a bundler it has nothing to guard.
export {}
