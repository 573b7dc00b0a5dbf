import { browseDeliveries } from '../../views/deliveries'
import { createWebhook } from '../../webhooks/create'
import { getDelivery, redeliver, testWebhook } from '../../webhooks/deliveries'
import { listWebhooks } from '../../webhooks/list'
import { rotateWebhook } from '../../webhooks/rotate'
import { deleteWebhook, updateWebhook } from '../../webhooks/update'
import { given, router, tenantProcedure } from '../init'

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
  create: tenantProcedure.input(given<EndpointInput>()).mutation(({ ctx, input }) => createWebhook(ctx.service, input)),
  update: tenantProcedure
    .input(given<OneWebhook & { body: Partial<EndpointInput> & { enabled?: boolean } }>('id'))
    .mutation(({ ctx, input }) => updateWebhook(ctx.service, input)),
  delete: tenantProcedure
    .input(given<OneWebhook>('id'))
    .mutation(({ ctx, input }) => deleteWebhook(ctx.service, input)),
  rotate: tenantProcedure
    .input(given<OneWebhook & { body: { graceHours?: number } }>('id'))
    .mutation(({ ctx, input }) => rotateWebhook(ctx.service, input)),
  test: tenantProcedure.input(given<OneWebhook>('id')).mutation(({ ctx, input }) => testWebhook(ctx.service, input)),
  deliveries: tenantProcedure
    .input(given<OneWebhook & { status?: string }>('id'))
    .query(({ ctx, input }) => browseDeliveries(ctx.service, input)),
  delivery: tenantProcedure
    .input(given<OneDelivery>('id', 'deliveryId'))
    .query(({ ctx, input }) => getDelivery(ctx.service, input)),
  redeliver: tenantProcedure
    .input(given<OneDelivery>('id', 'deliveryId'))
    .mutation(({ ctx, input }) => redeliver(ctx.service, input)),
})
