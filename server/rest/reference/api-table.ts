import { processWide } from '../../process'
import type { RouteModule } from '../listener/match'

export type ApiTable = Readonly<Record<string, RouteModule>>

const bound = () => processWide<{ read?: () => Promise<ApiTable> }>('api-table', () => ({}))

/** Says where the routes are, which this room may not import. They are loaded when somebody first tries a call. */
export function bindApiTable(read: () => Promise<ApiTable>): void {
  bound().read = read
}

export async function apiTable(): Promise<ApiTable> {
  const { read } = bound()
  if (!read) throw new Error('The routes of the API were not bound.')
  return read()
}
