import { answerMcp } from '@/server/mcp/serve'
import { methods, route } from '@/server/rest/route'

// Without sessions there is no stream to open (GET) and nothing to end (DELETE).
export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = methods('/api/mcp', {
  POST: route(({ ctx, body, request }) => answerMcp(ctx, body, request), { idempotent: false }),
})

/** In seconds, on platforms that limit it. */
export const maxDuration = 300
