import type { NextConfig } from 'next'

const config: NextConfig = {
  poweredByHeader: false,
  reactStrictMode: true,
  // `npm run check` and `npm test` check types; a start that has to build need not do it again.
  typescript: { ignoreBuildErrors: true },
  // Kept out of the bundle: the patched driver must be the one on disk, the SDK lazily loads a large
  // tracing tree it never needs here, and the sandbox ships a WASM file it finds by its own path.
  serverExternalPackages: ['postgres', 'inngest', 'quickjs-emscripten', 'pino'],
}

export default config
