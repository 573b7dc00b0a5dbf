import { applyDefinitions } from '@/server/as-code/apply'
import { methods, route } from '@/server/rest/route'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = methods('/api/definitions/apply', {
  POST: route(async ({ ctx, body }) => ({ body: await applyDefinitions(ctx, body) }), { large: true }),
})

/** In seconds, on platforms that limit it. */
export const maxDuration = 300
