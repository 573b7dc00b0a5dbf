import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { claims, mint } from '../auth/support'

/**
 * The API listener of this process with the one route.
 * @returns the address of the MCP server, and a function that closes it
 */
export async function serveMcp(): Promise<{ url: URL; close(): Promise<void> }> {
  const { createApiListener } = await import('@/server/rest/listener/create')
  const api = createApiListener({ '/api/mcp': await import('@/app/api/mcp/route') })
  const server = createServer((request, response) => {
    if (!api(request, response)) response.writeHead(599).end()
  })
  // On a slow machine, a client would send its next request as the connection is closed.
  server.keepAliveTimeout = 120_000
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    url: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/api/mcp`),
    async close() {
      server.closeAllConnections()
      await new Promise((done) => server.close(done))
    },
  }
}

/** The SDK's own client, connected. */
export async function connect(url: URL, headers: Record<string, string>): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' }, { capabilities: { elicitation: {} } })
  // Its type wrongly says that a session's id may not be undefined.
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }) as never)
  return client
}

export function tokenOf({ id, secret }: { id: string; secret: string }, sub: string): Record<string, string> {
  const now = Math.floor(Date.now() / 1000)
  const token = mint({ alg: 'HS256', kid: id }, claims({ sub, iat: now, exp: now + 3600 }), secret)
  return { authorization: `Bearer ${token}` }
}

/** The name of the tool with this title. */
export async function named(client: Client, title: string): Promise<string> {
  const { tools } = await client.listTools()
  return tools.find((tool) => tool.title === title)?.name ?? `no tool ${title}`
}

/** Calls a tool by its title or name. */
// biome-ignore lint/suspicious/noExplicitAny: a test says what it expects of a result
export async function callTool(client: Client, name: string, args: Record<string, unknown> = {}): Promise<any> {
  const { structuredContent, isError, content } = await client.callTool({ name, arguments: args })
  const [first] = content as { text: string }[]
  if (JSON.stringify(JSON.parse(first?.text ?? '')) !== JSON.stringify(structuredContent))
    throw new Error('text and data differ')
  return { ...(structuredContent as object), ...(isError ? { isError } : {}) }
}
