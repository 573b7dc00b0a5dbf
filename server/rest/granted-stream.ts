import type { Identity } from '../auth/identity'
import { watchAccess } from '../auth/watch-access'

/**
 * A body that ends once its caller has lost what the request was sent with. Events just end, and a client that connects
 * again is refused; anything else breaks off, so that nobody takes a part for the whole.
 * @param gone fires when the caller leaves, of which Next tells a body that it has not begun to send by nothing else
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
    // Nothing is produced before the caller takes it.
    { highWaterMark: 0 },
  )
}
