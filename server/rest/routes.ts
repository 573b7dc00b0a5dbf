import 'server-only'
import type { AnyEndpoint } from '../openapi/endpoint'
import { ENDPOINTS } from './endpoints'
import { folderOf, type Served, serve } from './serve'
import { OPENAPI } from './typed-api'

/** The handlers of every documented path, by the folder of its route file. */
export const ROUTES: Readonly<Record<string, Served>> = {
  ...Object.fromEntries([...byFolder()].map(([folder, endpoints]) => [folder, serve(...endpoints)])),
  [OPENAPI.GET.route]: OPENAPI,
}

function byFolder() {
  const found = new Map<string, [AnyEndpoint, ...AnyEndpoint[]]>()
  for (const endpoint of Object.values(ENDPOINTS)) {
    const folder = folderOf(endpoint)
    const others = found.get(folder)
    if (others) others.push(endpoint)
    else found.set(folder, [endpoint])
  }
  return found
}
