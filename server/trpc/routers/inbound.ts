import type { Scheme } from '../../definition/inbound'
import type { JsonValue } from '../../definition/json'
import { getInboundDelivery, replayInboundDelivery } from '../../inbound/deliveries'
import type { OneInbound } from '../../inbound/find'
import { rotateInbound } from '../../inbound/rotate'
import { createInbound, deleteInbound, updateInbound } from '../../inbound/save'
import { tryInbound } from '../../inbound/try'
import { browseInboundDeliveries } from '../../views/deliveries'
import { browseInbound } from '../../views/inbound/browse'
import { getInputSchema } from '../../workflows/input-schema'
import { inputWith, router, tenantProcedure } from '../init'

type OneDelivery = OneInbound & { deliveryId: string }

interface Rules {
  name: string
  scheme: Scheme
  signatureHeader: string | null
  encoding: 'hex' | 'base64' | null
  idHeader: string | null
  mapping: Record<string, string>
  when: string | null
}
interface Sample {
  body: JsonValue
  headers: Record<string, string>
  query: Record<string, string>
}

export const inboundRouter = router({
  list: tenantProcedure.query(({ ctx }) => browseInbound(ctx.service)),
  /** The START fields to map to. */
  fields: tenantProcedure
    .input(inputWith<{ workflowId: string }>('workflowId'))
    .query(({ ctx, input }) => getInputSchema(ctx.service, { id: input.workflowId })),
  create: tenantProcedure
    .input(inputWith<{ workflowId: string; body: Rules & { secret?: string } }>('workflowId'))
    .mutation(({ ctx, input }) => createInbound(ctx.service, input)),
  update: tenantProcedure
    .input(inputWith<OneInbound & { body: Partial<Rules> & { enabled?: boolean } }>('workflowId', 'inboundId'))
    .mutation(({ ctx, input }) => updateInbound(ctx.service, input)),
  delete: tenantProcedure
    .input(inputWith<OneInbound>('workflowId', 'inboundId'))
    .mutation(({ ctx, input }) => deleteInbound(ctx.service, input)),
  rotate: tenantProcedure
    .input(inputWith<OneInbound & { body: { secret?: string } }>('workflowId', 'inboundId'))
    .mutation(({ ctx, input }) => rotateInbound(ctx.service, input)),
  try: tenantProcedure
    .input(inputWith<OneInbound & { body: Sample }>('workflowId', 'inboundId'))
    .mutation(({ ctx, input }) => tryInbound(ctx.service, input)),
  deliveries: tenantProcedure
    .input(inputWith<OneInbound & { status?: string }>('workflowId', 'inboundId'))
    .query(({ ctx, input }) => browseInboundDeliveries(ctx.service, input)),
  delivery: tenantProcedure
    .input(inputWith<OneDelivery>('workflowId', 'inboundId', 'deliveryId'))
    .query(({ ctx, input }) => getInboundDelivery(ctx.service, input)),
  replay: tenantProcedure
    .input(inputWith<OneDelivery>('workflowId', 'inboundId', 'deliveryId'))
    .mutation(({ ctx, input }) => replayInboundDelivery(ctx.service, input)),
})
