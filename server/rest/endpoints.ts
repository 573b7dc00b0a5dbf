import { AGENT_ENDPOINTS } from '../agents/openapi'
import { AS_CODE_ENDPOINTS } from '../as-code/openapi'
import { AUDIT_ENDPOINTS } from '../audit-log/openapi'
import { KEY_ENDPOINTS } from '../credentials/openapi'
import { SIGNING_SECRET_ENDPOINTS } from '../credentials/openapi-secrets'
import { EVENT_ENDPOINTS } from '../events/openapi'
import { INBOUND_ENDPOINTS } from '../inbound/openapi'
import { LINK_ENDPOINTS } from '../links/openapi'
import { MCP_ENDPOINTS } from '../mcp/openapi'
import { MEMBER_ENDPOINTS } from '../members/openapi'
import type { AnyEndpoint } from '../openapi/endpoint'
import { RUN_ENDPOINTS } from '../runs/openapi'
import { SCHEDULE_ENDPOINTS } from '../schedules/openapi'
import { SUBJECT_ENDPOINTS } from '../subjects/openapi'
import { TOOL_ENDPOINTS } from '../tools/openapi'
import { VAULT_ENDPOINTS } from '../vault/openapi'
import { FILE_ENDPOINTS } from '../vault/openapi-files'
import { WEBHOOK_ENDPOINTS } from '../webhooks/openapi'
import { WORKFLOW_ENDPOINTS } from '../workflows/openapi'
import { SERVICE_ENDPOINTS } from './openapi-service'

/** Every endpoint by its operation id, in the order of the reference. */
export const ENDPOINTS: Readonly<Record<string, AnyEndpoint>> = {
  ...RUN_ENDPOINTS,
  ...LINK_ENDPOINTS,
  ...WORKFLOW_ENDPOINTS,
  ...AGENT_ENDPOINTS,
  ...TOOL_ENDPOINTS,
  ...AS_CODE_ENDPOINTS,
  ...FILE_ENDPOINTS,
  ...EVENT_ENDPOINTS,
  ...SCHEDULE_ENDPOINTS,
  ...INBOUND_ENDPOINTS,
  ...WEBHOOK_ENDPOINTS,
  ...SUBJECT_ENDPOINTS,
  ...MEMBER_ENDPOINTS,
  ...VAULT_ENDPOINTS,
  ...KEY_ENDPOINTS,
  ...SIGNING_SECRET_ENDPOINTS,
  ...AUDIT_ENDPOINTS,
  ...MCP_ENDPOINTS,
  ...SERVICE_ENDPOINTS,
}
