'use client'
import { useState } from 'react'
import { useTRPC, useTRPCClient } from '@/app/_trpc/client'
import { useVersioned } from '../../_versioned/use-versioned'
import { useTab, VersionedScreen } from '../../_versioned/versioned-screen'
import { useTenant } from '../../tenant-context'
import { useAgentVerbs } from '../use-agent-verbs'
import { type Agent, type AgentForm, formOf } from './agent-form'
import { EditTab } from './edit-tab'
import { Playground } from './playground'
import { SchemaTab } from './schema-tab'

const PAGE = { limit: '100', offset: '0' }

/** One agent: its instructions, its output, a playground, and its history. */
export function AgentEditor({ agent }: { agent: Agent }) {
  const trpc = useTRPC()
  const { agents } = useTRPCClient()
  const { may } = useTenant()
  const { id } = agent
  const tab = useTab(['edit', 'schema', 'playground'])
  const versioned = useVersioned<Agent, AgentForm>(
    agent,
    {
      keys: {
        one: trpc.agents.get.queryKey({ id }),
        versions: trpc.agents.versions.queryKey({ id, page: PAGE }),
        kind: trpc.agents.pathKey(),
      },
      formOf,
      readVersion: async (version) => formOf(await agents.version.query({ id, version: String(version) })),
      listVersions: () => agents.versions.query({ id, page: PAGE }),
      update: (body) => agents.update.mutate({ id, body }),
      publish: (ifMatch) => agents.publish.mutate({ id, ifMatch }),
      restoreVersion: (version, ifMatch) => agents.restore.mutate({ id, version: String(version), ifMatch }),
    },
    { versions: tab === 'versions' },
  )
  const [problem, setProblem] = useState<string | null>(null)
  const mayWrite = may('agent:write')
  const readOnly = agent.status === 'archived' || !mayWrite
  const { draft, saveError, publish } = versioned
  const form = { form: draft.value, change: draft.change, readOnly }
  return (
    <VersionedScreen
      noun="agent"
      resource={agent}
      versioned={versioned}
      problem={problem}
      onDiscard={() => setProblem(null)}
      tab={tab}
      tabs={[
        {
          name: 'edit',
          label: 'Edit',
          panel: <EditTab agentId={id} {...form} error={saveError ?? publish.error} />,
        },
        {
          name: 'schema',
          label: 'Output schema',
          stays: true,
          panel: <SchemaTab {...form} onProblem={setProblem} error={saveError} />,
        },
        { name: 'playground', label: 'Playground', panel: <Playground agent={agent} dirty={draft.dirty} /> },
      ]}
      may={{ write: mayWrite, publish: may('agent:publish') }}
      verbs={useAgentVerbs()}
    />
  )
}
