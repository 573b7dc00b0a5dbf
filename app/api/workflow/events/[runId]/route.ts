import { openStream, SSE_HEADERS } from '@/server/http/sse'
import { methods, route } from '@/server/rest/route'
import { openRunEvents } from '@/server/runs/events'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = methods('/api/workflow/events/[runId]', {
  GET: route<'runId'>(async ({ ctx, params, request }) => {
    const lastEventId = request.headers.get('last-event-id')
    const body = await openStream(ctx.tenantId, request.signal, () =>
      openRunEvents(ctx, { runId: params.runId, lastEventId }),
    )
    // 204 stops clients that reconnect automatically.
    return body ? { headers: SSE_HEADERS, body } : { status: 204, body: null }
  }),
})

/** In seconds, on platforms that limit it. */
export const maxDuration = 300
