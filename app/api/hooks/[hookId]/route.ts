import { now } from '@/server/clock'
import { database } from '@/server/database'
import { readBytes } from '@/server/http/body'
import { receiveDelivery } from '@/server/inbound/receive'
import { log } from '@/server/log'
import { methods, publicRoute } from '@/server/rest/route'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = methods('/api/hooks/[hookId]', {
  POST: publicRoute<'hookId'>(async ({ request, requestId, params, query }) => {
    const base = { db: database().db, log: log().child({ requestId }), now, requestId }
    const { headers } = request
    const arrival = { hookId: params.hookId, headers, query: query(), readBytes: () => readBytes(request) }
    const received = await receiveDelivery(base, arrival)
    if ('challenge' in received) return { body: received }
    const { silent, ...body } = received
    if (silent) return { body: new Uint8Array() }
    return { status: body.outcome === 'started' ? 202 : 200, body }
  }),
})
