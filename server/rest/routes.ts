import 'server-only'
import type { Endpoint, PublicEndpoint } from '../openapi/endpoint'
import { ENDPOINTS } from './endpoints'
import { methods } from './route'
import { folderOf, type Served, serve } from './serve'
import { getOpenApi } from './typed-api'

/** The handlers of every documented path, by the folder of its route file. */
export const ROUTES: Readonly<Record<string, Served>> = {
  ...Object.fromEntries([...byFolder()].map(([folder, endpoints]) => [folder, serve(...endpoints)])),
  '/api/openapi.json': methods('/api/openapi.json', { GET: getOpenApi }),
}

function byFolder() {
  const found = new Map<string, [Endpoint | PublicEndpoint, ...(Endpoint | PublicEndpoint)[]]>()
  for (const endpoint of Object.values(ENDPOINTS)) {
    const folder = folderOf(endpoint)
    const others = found.get(folder)
    if (others) others.push(endpoint)
    else found.set(folder, [endpoint])
  }
  return found
}
