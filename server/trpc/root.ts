import { router } from './init'
import { accountRouter } from './routers/account'
import { agentsRouter } from './routers/agents'
import { auditRouter } from './routers/audit'
import { authRouter } from './routers/auth'
import { filesRouter } from './routers/files'
import { groupsRouter } from './routers/groups'
import { homeRouter } from './routers/home'
import { inboundRouter } from './routers/inbound'
import { insightsRouter } from './routers/insights'
import { keysRouter } from './routers/keys'
import { liveRouter } from './routers/live'
import { membersRouter } from './routers/members'
import { referenceRouter } from './routers/reference'
import { runsRouter } from './routers/runs'
import { schedulesRouter } from './routers/schedules'
import { secretsRouter } from './routers/secrets'
import { serviceRouter } from './routers/service'
import { settingsRouter } from './routers/settings'
import { startLinksRouter } from './routers/start-links'
import { stepsRouter } from './routers/steps'
import { taskLinksRouter } from './routers/task-links'
import { tasksRouter } from './routers/tasks'
import { toolsRouter } from './routers/tools'
import { vaultRouter } from './routers/vault'
import { webhooksRouter } from './routers/webhooks'
import { workflowsRouter } from './routers/workflows'

/** The dashboard's API: the verbs of REST, and some only for screens. */
export const appRouter = router({
  account: accountRouter,
  agents: agentsRouter,
  audit: auditRouter,
  auth: authRouter,
  files: filesRouter,
  groups: groupsRouter,
  home: homeRouter,
  insights: insightsRouter,
  keys: keysRouter,
  live: liveRouter,
  members: membersRouter,
  reference: referenceRouter,
  runs: runsRouter,
  inbound: inboundRouter,
  schedules: schedulesRouter,
  secrets: secretsRouter,
  service: serviceRouter,
  settings: settingsRouter,
  startLinks: startLinksRouter,
  steps: stepsRouter,
  taskLinks: taskLinksRouter,
  tasks: tasksRouter,
  tools: toolsRouter,
  vault: vaultRouter,
  webhooks: webhooksRouter,
  workflows: workflowsRouter,
})
export type AppRouter = typeof appRouter
