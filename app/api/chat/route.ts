import { chat, openChat } from '@/server/agents/chat'
import { openStream, SSE_HEADERS } from '@/server/http/sse'
import { methods, route } from '@/server/rest/route'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = methods('/api/chat', {
  POST: route(
    async ({ ctx, body, request }) => {
      const accepts = request.headers.get('accept') ?? ''
      if (accepts.includes('application/json') && !accepts.includes('text/event-stream')) {
        return { body: await chat(ctx, body, request.signal) }
      }
      const lastEventId = request.headers.get('last-event-id')
      const stream = await openStream(ctx.tenantId, request.signal, () =>
        openChat(ctx, { body, lastEventId }, request.signal),
      )
      // 204 stops clients that reconnect automatically.
      return stream ? { headers: SSE_HEADERS, body: stream } : { status: 204, body: null }
    },
    { surface: 'invoke', limit: 'invokes' },
  ),
})

/** In seconds, on platforms that limit it. */
export const maxDuration = 300
