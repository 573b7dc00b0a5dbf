import { network } from '@/app/_ui/network'
import type { Definition } from '@/server/definition/schema'
import type { Catalog } from '@/server/steps/catalog'
import type { Layout } from './definition'
import { type LayoutRequest, layoutRequest } from './layout-request'

/**
 * Positions for all nodes, computed in a worker: dagre would block the page longer than a keystroke may take.
 * @throws the worker's error, or the signal's reason
 */
export async function tidyLayout(definition: Definition, catalog?: Catalog, signal?: AbortSignal): Promise<Layout> {
  const request = layoutRequest(definition, catalog)
  if (typeof Worker === 'undefined')
    return (await network.load(() => import('./layout-dagre'))).layoutWithDagre(request)
  // The worker's code needs the network.
  return network.load(() => inWorker(request, signal))
}

async function inWorker(request: LayoutRequest, signal?: AbortSignal): Promise<Layout> {
  signal?.throwIfAborted()
  const worker = new Worker(new URL('./layout-worker.ts', import.meta.url), { type: 'module' })
  try {
    return await new Promise<Layout>((resolve, reject) => {
      signal?.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
      worker.onmessage = (message: MessageEvent<Layout>) => resolve(message.data)
      worker.onerror = (event) => reject(new Error(event.message || 'The layout could not be computed.'))
      worker.postMessage(request)
    })
  } finally {
    worker.terminate()
  }
}
