import { chat, openChat } from '@/server/agents/chat'
import { eventStream, SSE_HEADERS } from '@/server/http/sse'
import { methods, route } from '@/server/rest/route'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  POST: route(
    async ({ ctx, body, request }) => {
      const accepts = request.headers.get('accept') ?? ''
      if (accepts.includes('application/json') && !accepts.includes('text/event-stream')) {
        return { body: await chat(ctx, body, request.signal) }
      }
      const lastEventId = request.headers.get('last-event-id')
      const events = await openChat(ctx, { body, lastEventId }, request.signal)
      // 204 stops clients that reconnect automatically.
      if (!events) return { status: 204, body: null }
      return { headers: SSE_HEADERS, body: eventStream(events, request.signal) }
    },
    { surface: 'invoke', limit: 'invokes' },
  ),
})
