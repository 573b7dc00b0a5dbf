import { readMetrics } from '@/server/metrics/read'
import { methods, publicRoute } from '@/server/rest/route'

const HEADERS = { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' }

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = methods('/api/metrics', {
  GET: publicRoute(async ({ request }) => ({
    headers: HEADERS,
    body: new TextEncoder().encode(await readMetrics(request.headers)),
  })),
})
