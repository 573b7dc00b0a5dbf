import * as agentInvoke from './agents/[agentId]/invoke/route'
import * as agentPublish from './agents/[agentId]/publish/route'
import * as agent from './agents/[agentId]/route'
import * as agentSchema from './agents/[agentId]/schema/route'
import * as agentThread from './agents/[agentId]/threads/[threadId]/route'
import * as agentThreads from './agents/[agentId]/threads/route'
import * as agentUnarchive from './agents/[agentId]/unarchive/route'
import * as agentVersion from './agents/[agentId]/versions/[version]/route'
import * as agentVersions from './agents/[agentId]/versions/route'
import * as agents from './agents/route'
import * as audit from './audit/route'
import * as chat from './chat/route'
import * as definitionsApply from './definitions/apply/route'
import * as definitionsDiff from './definitions/diff/route'
import * as definitions from './definitions/route'
import * as events from './events/route'
import * as file from './files/[id]/route'
import * as health from './health/route'
import * as hook from './hooks/[hookId]/route'
import * as invitationRenew from './invitations/[invitationId]/renew/route'
import * as invitation from './invitations/[invitationId]/route'
import * as invitations from './invitations/route'
import * as keyDisable from './keys/[keyId]/disable/route'
import * as keyEnable from './keys/[keyId]/enable/route'
import * as keyRotate from './keys/[keyId]/rotate/route'
import * as keys from './keys/route'
import * as mcp from './mcp/route'
import * as member from './members/[userId]/route'
import * as members from './members/route'
import * as metrics from './metrics/route'
import * as openapiJson from './openapi.json/route'
import * as secretDisable from './signing-secrets/[secretId]/disable/route'
import * as secretEnable from './signing-secrets/[secretId]/enable/route'
import * as secretLimits from './signing-secrets/[secretId]/limits/route'
import * as secretRotate from './signing-secrets/[secretId]/rotate/route'
import * as signingSecrets from './signing-secrets/route'
import * as subjectData from './subjects/data/route'
import * as toolInvoke from './tools/[toolId]/invoke/route'
import * as toolPublish from './tools/[toolId]/publish/route'
import * as tool from './tools/[toolId]/route'
import * as toolUnarchive from './tools/[toolId]/unarchive/route'
import * as toolVersion from './tools/[toolId]/versions/[version]/route'
import * as toolVersions from './tools/[toolId]/versions/route'
import * as toolsMcpList from './tools/mcp/list/route'
import * as tools from './tools/route'
import * as vaultHosts from './vault/[name]/hosts/route'
import * as vaultSecret from './vault/[name]/route'
import * as vault from './vault/route'
import * as webhookRedeliver from './webhooks/[webhookId]/deliveries/[deliveryId]/redeliver/route'
import * as webhookDelivery from './webhooks/[webhookId]/deliveries/[deliveryId]/route'
import * as webhookDeliveries from './webhooks/[webhookId]/deliveries/route'
import * as webhookRotate from './webhooks/[webhookId]/rotate/route'
import * as webhook from './webhooks/[webhookId]/route'
import * as webhookTest from './webhooks/[webhookId]/test/route'
import * as webhooks from './webhooks/route'
import * as runEvents from './workflow/events/[runId]/route'
import * as runHistory from './workflow/history/[runId]/route'
import * as runManagementCancel from './workflow/management/cancel/route'
import * as runManagementTerminate from './workflow/management/terminate/route'
import * as runMetadataInput from './workflow/metadata/input/[workflowId]/route'
import * as runRerun from './workflow/rerun/[runId]/route'
import * as runResume from './workflow/resume/[runId]/route'
import * as runRetry from './workflow/retry/[runId]/route'
import * as runExport from './workflow/runs/export/route'
import * as runRuns from './workflow/runs/route'
import * as runStart from './workflow/start/[workflowId]/route'
import * as runStartAsync from './workflow/start-async/[workflowId]/route'
import * as runStatus from './workflow/status/[runId]/route'
import * as runTaskLink from './workflow/task-links/[runId]/[linkId]/route'
import * as runTaskLinks from './workflow/task-links/[runId]/route'
import * as runValue from './workflow/value/[runId]/route'
import * as workflowClone from './workflows/[id]/clone/route'
import * as inboundReplay from './workflows/[id]/inbound-webhooks/[inboundId]/deliveries/[deliveryId]/replay/route'
import * as inboundDelivery from './workflows/[id]/inbound-webhooks/[inboundId]/deliveries/[deliveryId]/route'
import * as inboundDeliveries from './workflows/[id]/inbound-webhooks/[inboundId]/deliveries/route'
import * as inboundRotate from './workflows/[id]/inbound-webhooks/[inboundId]/rotate/route'
import * as inbound from './workflows/[id]/inbound-webhooks/[inboundId]/route'
import * as inboundTest from './workflows/[id]/inbound-webhooks/[inboundId]/test/route'
import * as inboundAll from './workflows/[id]/inbound-webhooks/route'
import * as workflowPermanent from './workflows/[id]/permanent/route'
import * as workflowPublish from './workflows/[id]/publish/route'
import * as workflow from './workflows/[id]/route'
import * as workflowSchedule from './workflows/[id]/schedules/[scheduleId]/route'
import * as workflowSchedules from './workflows/[id]/schedules/route'
import * as workflowSimulate from './workflows/[id]/simulate/route'
import * as workflowUnarchive from './workflows/[id]/unarchive/route'
import * as workflowVersionRestore from './workflows/[id]/versions/[version]/restore/route'
import * as workflowVersion from './workflows/[id]/versions/[version]/route'
import * as workflowVersions from './workflows/[id]/versions/route'
import * as workflows from './workflows/route'

/**
 * The routes that the web process answers itself, in front of Next: all of this folder but those of other protocols
 * (`auth`, `inngest`, `trpc`) and the one for unknown paths. `test/rest/listener.test.ts` compares it with the files.
 */
export const ROUTES = {
  '/api/agents/[agentId]/invoke': agentInvoke,
  '/api/agents/[agentId]/publish': agentPublish,
  '/api/agents/[agentId]': agent,
  '/api/agents/[agentId]/schema': agentSchema,
  '/api/agents/[agentId]/threads/[threadId]': agentThread,
  '/api/agents/[agentId]/threads': agentThreads,
  '/api/agents/[agentId]/unarchive': agentUnarchive,
  '/api/agents/[agentId]/versions/[version]': agentVersion,
  '/api/agents/[agentId]/versions': agentVersions,
  '/api/agents': agents,
  '/api/audit': audit,
  '/api/chat': chat,
  '/api/definitions/apply': definitionsApply,
  '/api/definitions/diff': definitionsDiff,
  '/api/definitions': definitions,
  '/api/events': events,
  '/api/files/[id]': file,
  '/api/health': health,
  '/api/hooks/[hookId]': hook,
  '/api/invitations/[invitationId]/renew': invitationRenew,
  '/api/invitations/[invitationId]': invitation,
  '/api/invitations': invitations,
  '/api/keys/[keyId]/disable': keyDisable,
  '/api/keys/[keyId]/enable': keyEnable,
  '/api/keys/[keyId]/rotate': keyRotate,
  '/api/keys': keys,
  '/api/mcp': mcp,
  '/api/members/[userId]': member,
  '/api/members': members,
  '/api/metrics': metrics,
  '/api/openapi.json': openapiJson,
  '/api/signing-secrets/[secretId]/disable': secretDisable,
  '/api/signing-secrets/[secretId]/enable': secretEnable,
  '/api/signing-secrets/[secretId]/limits': secretLimits,
  '/api/signing-secrets/[secretId]/rotate': secretRotate,
  '/api/signing-secrets': signingSecrets,
  '/api/subjects/data': subjectData,
  '/api/tools/[toolId]/invoke': toolInvoke,
  '/api/tools/[toolId]/publish': toolPublish,
  '/api/tools/[toolId]': tool,
  '/api/tools/[toolId]/unarchive': toolUnarchive,
  '/api/tools/[toolId]/versions/[version]': toolVersion,
  '/api/tools/[toolId]/versions': toolVersions,
  '/api/tools/mcp/list': toolsMcpList,
  '/api/tools': tools,
  '/api/vault/[name]/hosts': vaultHosts,
  '/api/vault/[name]': vaultSecret,
  '/api/vault': vault,
  '/api/webhooks/[webhookId]/deliveries/[deliveryId]/redeliver': webhookRedeliver,
  '/api/webhooks/[webhookId]/deliveries/[deliveryId]': webhookDelivery,
  '/api/webhooks/[webhookId]/deliveries': webhookDeliveries,
  '/api/webhooks/[webhookId]/rotate': webhookRotate,
  '/api/webhooks/[webhookId]/test': webhookTest,
  '/api/webhooks/[webhookId]': webhook,
  '/api/webhooks': webhooks,
  '/api/workflow/events/[runId]': runEvents,
  '/api/workflow/history/[runId]': runHistory,
  '/api/workflow/management/cancel': runManagementCancel,
  '/api/workflow/management/terminate': runManagementTerminate,
  '/api/workflow/metadata/input/[workflowId]': runMetadataInput,
  '/api/workflow/rerun/[runId]': runRerun,
  '/api/workflow/resume/[runId]': runResume,
  '/api/workflow/retry/[runId]': runRetry,
  '/api/workflow/runs/export': runExport,
  '/api/workflow/runs': runRuns,
  '/api/workflow/start-async/[workflowId]': runStartAsync,
  '/api/workflow/start/[workflowId]': runStart,
  '/api/workflow/status/[runId]': runStatus,
  '/api/workflow/task-links/[runId]/[linkId]': runTaskLink,
  '/api/workflow/task-links/[runId]': runTaskLinks,
  '/api/workflow/value/[runId]': runValue,
  '/api/workflows/[id]/clone': workflowClone,
  '/api/workflows/[id]/inbound-webhooks/[inboundId]/deliveries/[deliveryId]/replay': inboundReplay,
  '/api/workflows/[id]/inbound-webhooks/[inboundId]/deliveries/[deliveryId]': inboundDelivery,
  '/api/workflows/[id]/inbound-webhooks/[inboundId]/deliveries': inboundDeliveries,
  '/api/workflows/[id]/inbound-webhooks/[inboundId]/rotate': inboundRotate,
  '/api/workflows/[id]/inbound-webhooks/[inboundId]/test': inboundTest,
  '/api/workflows/[id]/inbound-webhooks/[inboundId]': inbound,
  '/api/workflows/[id]/inbound-webhooks': inboundAll,
  '/api/workflows/[id]/permanent': workflowPermanent,
  '/api/workflows/[id]/publish': workflowPublish,
  '/api/workflows/[id]': workflow,
  '/api/workflows/[id]/schedules/[scheduleId]': workflowSchedule,
  '/api/workflows/[id]/schedules': workflowSchedules,
  '/api/workflows/[id]/simulate': workflowSimulate,
  '/api/workflows/[id]/unarchive': workflowUnarchive,
  '/api/workflows/[id]/versions/[version]/restore': workflowVersionRestore,
  '/api/workflows/[id]/versions/[version]': workflowVersion,
  '/api/workflows/[id]/versions': workflowVersions,
  '/api/workflows': workflows,
}
