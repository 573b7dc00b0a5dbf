import { openReference } from '../../rest/reference/open'
import { readReference } from '../../rest/reference/read'
import { type SendCall, sendCall } from '../../rest/reference/send'
import { inputWith, router, tenantProcedure } from '../init'

export const referenceRouter = router({
  open: tenantProcedure.query(({ ctx }) => openReference(ctx.service, ctx.headers)),
  read: tenantProcedure
    .input(inputWith<{ id: string }>('id'))
    .query(({ ctx, input }) => readReference(ctx.service, input, ctx.headers)),
  /** *Try it*: the call itself is authorized, limited and audited like any other. */
  send: tenantProcedure
    .input(inputWith<SendCall>('method', 'path'))
    .mutation(({ ctx, input, signal }) => sendCall(ctx.service, input, ctx.headers, signal ?? never)),
})

const never = new AbortController().signal
