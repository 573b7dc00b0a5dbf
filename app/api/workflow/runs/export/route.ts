import { methods, route } from '@/server/rest/route'
import { exportRuns } from '@/server/runs/export'

const HEADERS = { 'content-type': 'application/x-ndjson; charset=utf-8', 'x-accel-buffering': 'no' }

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = methods('/api/workflow/runs/export', {
  GET: route(async ({ ctx, query }) => ({ headers: HEADERS, body: await exportRuns(ctx, query) })),
})

/** In seconds, on platforms that limit it. */
export const maxDuration = 60
