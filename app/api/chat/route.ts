import { chat, openChat, openUiChat } from '@/server/agents/chat'
import { isUiChat } from '@/server/agents/ui-chat'
import { UI_STREAM_HEADERS } from '@/server/agents/ui-stream'
import { openStream, SSE_HEADERS } from '@/server/http/sse'
import { methods, route } from '@/server/rest/route'

const wantsJson = ({ headers }: Request): boolean => {
  const accepts = headers.get('accept') ?? ''
  return accepts.includes('application/json') && !accepts.includes('text/event-stream')
}

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = methods('/api/chat', {
  POST: route(
    async ({ ctx, body, request, signal }) => {
      if (isUiChat(body)) {
        const stream = await openStream(ctx.tenantId, request.signal, () => openUiChat(ctx, body, signal))
        return { headers: { ...SSE_HEADERS, ...UI_STREAM_HEADERS }, body: stream }
      }
      if (wantsJson(request)) return { body: await chat(ctx, body, signal) }
      const lastEventId = request.headers.get('last-event-id')
      const stream = await openStream(ctx.tenantId, request.signal, () => openChat(ctx, { body, lastEventId }, signal))
      // 204 stops clients that reconnect automatically.
      return stream ? { headers: SSE_HEADERS, body: stream } : { status: 204, body: null }
    },
    {
      surface: 'invoke',
      limit: 'invokes',
      // To go on reading is no second message, whatever key the client sends with it.
      idempotent: (request) => wantsJson(request) || !request.headers.has('last-event-id'),
    },
  ),
})

/** In seconds, on platforms that limit it. */
export const maxDuration = 300
