import type { NextConfig } from 'next'

/** For pages. Their content security policy comes from proxy.ts; API answers set their own, stricter headers. */
const PAGE_HEADERS = {
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Permissions-Policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
}

const config: NextConfig = {
  poweredByHeader: false,
  // In this corner it covers no control.
  devIndicators: { position: 'bottom-right' },
  reactStrictMode: true,
  // `npm run check` and `npm test` check types, so a build at start need not repeat it.
  typescript: { ignoreBuildErrors: true },
  headers: async () => [
    { source: '/((?!api/|api$).*)', headers: Object.entries(PAGE_HEADERS).map(([key, value]) => ({ key, value })) },
  ],
  // Pages load only the parts of these that they use. No build cache: consecutive builds that would profit are rare,
  // and writing it takes a quarter of the first build's time. No preloading of every page: it takes a second of
  // processor time, just when a replacement process is busiest. A navigation without a network waits for it; Next
  // would otherwise leave the page for the browser's own error page, with everything typed on it.
  experimental: {
    useOffline: true,
    turbopackFileSystemCacheForBuild: false,
    preloadEntriesOnStart: false,
    optimizePackageImports: ['@mantine/core', '@mantine/hooks', 'lucide-react'],
  },
  // Excluded from the bundle: the patched driver must be the one on disk, the SDK lazily loads a large tracing tree
  // that is not needed here, and the sandbox finds its WASM file by its own path.
  serverExternalPackages: [
    'postgres',
    'inngest',
    'quickjs-emscripten',
    'pino',
    'nodemailer',
    'pdfjs-dist',
    '@pydantic/genai-prices',
  ],
}

export default config
