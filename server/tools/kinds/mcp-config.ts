import { z } from 'zod'
import { components } from '../../definition/component'
import { HeaderTemplates } from './headers'
import { checkTemplates } from './templates'

const McpServer = {
  /** The URL of the server's streamable HTTP endpoint. */
  url: z
    .string()
    .max(4_000)
    .regex(/^https?:\/\/[^/?#\\\s@${}]+([/?#]|$)/i, 'must start with http:// or https:// and a host')
    .refine((url) => !url.includes('${') && URL.canParse(url), 'must be a URL without ${…}'),
  /** May use `${secrets.NAME}` and the verified `${context.x}`. */
  headers: HeaderTemplates.default({}),
  timeoutMs: z.number().int().min(1).max(60_000).default(30_000),
}

function check(config: { headers: Record<string, string> }, ctx: z.RefinementCtx): void {
  checkTemplates({ headers: config.headers }, ['secrets', 'context'], ctx)
}

export const McpConfig = z
  .strictObject({
    ...McpServer,
    /** The tool's name on its server. */
    toolName: z.string().min(1).max(200),
    /** `auto`: the structured content, otherwise the text, otherwise the content; `full`: the unchanged result. */
    result: z.enum(['auto', 'full']).default('auto'),
  })
  .superRefine(check)
export type McpConfig = z.infer<typeof McpConfig>

/** A server whose tools to list, before or after creating a tool from one. */
export const McpServerConfig = z
  .object({
    url: McpServer.url.describe('The URL of its streamable HTTP endpoint.'),
    headers: McpServer.headers.describe(
      'Sent with every request; may use `${secrets.NAME}` of secrets that may be sent to this host.',
    ),
    timeoutMs: McpServer.timeoutMs.describe('How long to wait. In milliseconds.'),
  })
  .superRefine(check)
  .register(components, { id: 'McpServer' })
export type McpServerConfig = z.infer<typeof McpServerConfig>
