import { AGENT_ENDPOINTS } from '../agents/endpoints'
import { USAGE_ENDPOINTS } from '../agents/usage-endpoints'
import { AS_CODE_ENDPOINTS } from '../as-code/endpoints'
import { AUDIT_ENDPOINTS } from '../audit-log/endpoints'
import { KEY_ENDPOINTS } from '../credentials/endpoints'
import { SIGNING_SECRET_ENDPOINTS } from '../credentials/secret-endpoints'
import { EVENT_ENDPOINTS } from '../events/endpoints'
import { INBOUND_ENDPOINTS } from '../inbound/endpoints'
import { LINK_ENDPOINTS } from '../links/endpoints'
import { START_LINK_ENDPOINTS } from '../links/start/endpoints'
import { MCP_ENDPOINTS } from '../mcp/endpoints'
import { MEMBER_ENDPOINTS } from '../members/endpoints'
import { GROUP_ENDPOINTS } from '../members/groups/endpoints'
import type { AnyEndpoint } from '../openapi/endpoint'
import { BACKTEST_ENDPOINTS } from '../runs/backtest/endpoints'
import { RUN_ENDPOINTS } from '../runs/endpoints'
import { WHAT_IF_ENDPOINTS } from '../runs/what-if/endpoints'
import { SCHEDULE_ENDPOINTS } from '../schedules/endpoints'
import { SUBJECT_ENDPOINTS } from '../subjects/endpoints'
import { TALK_ENDPOINTS } from '../talk/endpoints'
import { TOOL_ENDPOINTS } from '../tools/endpoints'
import { VAULT_ENDPOINTS } from '../vault/endpoints'
import { FILE_ENDPOINTS } from '../vault/file-endpoints'
import { WEBHOOK_ENDPOINTS } from '../webhooks/endpoints'
import { WORKFLOW_ENDPOINTS } from '../workflows/endpoints'
import { SERVICE_ENDPOINTS } from './service-endpoints'

/** Every endpoint by its operation id, in the order of the reference. */
export const ENDPOINTS: Readonly<Record<string, AnyEndpoint>> = {
  ...RUN_ENDPOINTS,
  ...WHAT_IF_ENDPOINTS,
  ...LINK_ENDPOINTS,
  ...WORKFLOW_ENDPOINTS,
  ...BACKTEST_ENDPOINTS,
  ...START_LINK_ENDPOINTS,
  ...TALK_ENDPOINTS,
  ...AGENT_ENDPOINTS,
  ...USAGE_ENDPOINTS,
  ...TOOL_ENDPOINTS,
  ...AS_CODE_ENDPOINTS,
  ...FILE_ENDPOINTS,
  ...EVENT_ENDPOINTS,
  ...SCHEDULE_ENDPOINTS,
  ...INBOUND_ENDPOINTS,
  ...WEBHOOK_ENDPOINTS,
  ...SUBJECT_ENDPOINTS,
  ...MEMBER_ENDPOINTS,
  ...GROUP_ENDPOINTS,
  ...VAULT_ENDPOINTS,
  ...KEY_ENDPOINTS,
  ...SIGNING_SECRET_ENDPOINTS,
  ...AUDIT_ENDPOINTS,
  ...MCP_ENDPOINTS,
  ...SERVICE_ENDPOINTS,
}
