import type { Identity } from '../auth/identity'
import { watchAccess } from '../auth/watch-access'

/**
 * A body that ends once its caller has lost the credential or session of the request. Events just end, and a client
 * that reconnects is refused; any other body breaks off, so that a part is not mistaken for the whole.
 * @param gone fires when the caller leaves: Next does not cancel a body that it has not begun to send
 */
export function grantedStream(
  body: ReadableStream<Uint8Array>,
  identity: Identity,
  contentType: string | undefined,
  gone: AbortSignal,
): ReadableStream<Uint8Array> {
  const reader = body.getReader()
  let over = false
  let leave = () => {}
  const end = (finish: () => void) => {
    if (over) return
    over = true
    leave()
    finish()
  }
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const left = () => {
          end(() => controller.close())
          reader.cancel().catch(() => {})
        }
        const unwatch = watchAccess(identity, () => {
          end(() =>
            contentType?.startsWith('text/event-stream')
              ? controller.close()
              : controller.error(new Error('The caller has lost access')),
          )
          reader.cancel().catch(() => {})
        })
        leave = () => {
          unwatch()
          gone.removeEventListener('abort', left)
        }
        gone.addEventListener('abort', left)
        if (gone.aborted) left()
      },
      async pull(controller) {
        try {
          const { done, value } = await reader.read()
          if (done) end(() => controller.close())
          else if (!over) controller.enqueue(value)
        } catch (err) {
          end(() => controller.error(err))
        }
      },
      async cancel(reason) {
        end(() => {})
        await reader.cancel(reason)
      },
    },
    // Nothing is produced before the caller reads it.
    { highWaterMark: 0 },
  )
}
