import { draftedLifecycleOf } from '../versioned/lifecycle'
import { checkAgent } from './check'
import { mergeConfig, newConfig } from './config'
import { AGENT } from './noun'
import { presentVersion } from './present'
import { ListAgents, UpdateAgent } from './schema'

export const AGENTS = draftedLifecycleOf(AGENT, {
  newContent: newConfig,
  update: { schema: UpdateAgent, merge: mergeConfig },
  list: ListAgents,
  presentVersion,
  check: checkAgent,
})

export const {
  list: listAgents,
  create: createAgent,
  get: getAgent,
  update: updateAgent,
  archive: archiveAgent,
  unarchive: unarchiveAgent,
  undoArchive: undoArchiveAgent,
  publish: publishAgent,
  duplicate: duplicateAgent,
  listVersions: listAgentVersions,
  getVersion: getAgentVersion,
  saveDraft: saveAgentDraft,
  publishDraft: publishAgentDraft,
  restoreVersion: restoreAgentVersion,
} = AGENTS
