import type { NextConfig } from 'next'

/** For pages, whose content security policy comes from proxy.ts; answers of the API bring their own, stricter ones. */
const PAGE_HEADERS = {
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Permissions-Policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
}

const config: NextConfig = {
  poweredByHeader: false,
  // Where it covers nothing.
  devIndicators: { position: 'bottom-right' },
  reactStrictMode: true,
  // `npm run check` and `npm test` check types; a start that has to build need not do it again.
  typescript: { ignoreBuildErrors: true },
  headers: async () => [
    { source: '/((?!api/|api$).*)', headers: Object.entries(PAGE_HEADERS).map(([key, value]) => ({ key, value })) },
  ],
  // Pages load only the parts of these that they use.
  // Nobody builds twice in a row where it would help, and writing it takes a quarter of a first start's build.
  experimental: {
    turbopackFileSystemCacheForBuild: false,
    optimizePackageImports: ['@mantine/core', '@mantine/hooks', 'lucide-react'],
  },
  // Kept out of the bundle: the patched driver must be the one on disk, the SDK lazily loads a large
  // tracing tree it never needs here, and the sandbox ships a WASM file it finds by its own path.
  serverExternalPackages: ['postgres', 'inngest', 'quickjs-emscripten', 'pino'],
}

export default config
