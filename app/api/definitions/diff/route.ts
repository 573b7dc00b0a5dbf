import { diffDefinitions } from '@/server/as-code/diff'
import { methods, route } from '@/server/rest/route'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = methods('/api/definitions/diff', {
  POST: route(async ({ ctx, body }) => ({ body: await diffDefinitions(ctx, body) }), {
    large: true,
    idempotent: false,
  }),
})

/** In seconds, on platforms that limit it. */
export const maxDuration = 300
