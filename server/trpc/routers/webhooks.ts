import { browseDeliveries } from '../../views/deliveries'
import { createWebhook } from '../../webhooks/create'
import { getDelivery, redeliver, testWebhook } from '../../webhooks/deliveries'
import { listWebhooks } from '../../webhooks/list'
import { rotateWebhook } from '../../webhooks/rotate'
import { deleteWebhook, updateWebhook } from '../../webhooks/update'
import { inputWith, router, tenantProcedure } from '../init'

interface OneWebhook {
  id: string
}
interface OneDelivery extends OneWebhook {
  deliveryId: string
}
interface EndpointInput {
  url: string
  description: string
  events: string[]
}

export const webhooksRouter = router({
  list: tenantProcedure.query(({ ctx }) => listWebhooks(ctx.service)),
  create: tenantProcedure
    .input(inputWith<EndpointInput>())
    .mutation(({ ctx, input }) => createWebhook(ctx.service, input)),
  update: tenantProcedure
    .input(inputWith<OneWebhook & { body: Partial<EndpointInput> & { enabled?: boolean } }>('id'))
    .mutation(({ ctx, input }) => updateWebhook(ctx.service, input)),
  delete: tenantProcedure
    .input(inputWith<OneWebhook>('id'))
    .mutation(({ ctx, input }) => deleteWebhook(ctx.service, input)),
  rotate: tenantProcedure
    .input(inputWith<OneWebhook & { body: { graceHours?: number } }>('id'))
    .mutation(({ ctx, input }) => rotateWebhook(ctx.service, input)),
  test: tenantProcedure
    .input(inputWith<OneWebhook>('id'))
    .mutation(({ ctx, input }) => testWebhook(ctx.service, input)),
  deliveries: tenantProcedure
    .input(inputWith<OneWebhook & { status?: string }>('id'))
    .query(({ ctx, input }) => browseDeliveries(ctx.service, input)),
  delivery: tenantProcedure
    .input(inputWith<OneDelivery>('id', 'deliveryId'))
    .query(({ ctx, input }) => getDelivery(ctx.service, input)),
  redeliver: tenantProcedure
    .input(inputWith<OneDelivery>('id', 'deliveryId'))
    .mutation(({ ctx, input }) => redeliver(ctx.service, input)),
})
