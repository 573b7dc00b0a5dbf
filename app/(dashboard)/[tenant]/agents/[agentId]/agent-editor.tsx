'use client'
import { useMediaQuery } from '@mantine/hooks'
import dynamic from 'next/dynamic'
import { useState } from 'react'
import { useTRPC, useTRPCClient } from '@/app/_trpc/client'
import { inPlace, loadPart } from '@/app/_ui/part'
import type { JsonObject } from '@/server/definition/json'
import { asError } from '../../_versioned/field-errors'
import { onScreenState } from '../../_versioned/on-screen'
import { useVersioned } from '../../_versioned/use-versioned'
import { useTab, VersionedScreen } from '../../_versioned/versioned-screen'
import { useTenant } from '../../tenant-context'
import { useAgentVerbs } from '../use-agent-verbs'
import { type Agent, type AgentForm, formOf } from './agent-form'
import { Compare } from './compare'
import { EditTab } from './edit-tab'
import { Playground } from './playground'
import styles from './playground.module.css'
import { SchemaTab } from './schema-tab'
import { useTalk } from './use-talk'

const AgentCases = dynamic(() => loadPart(() => import('../../_test-cases/lazy').then((module) => module.AgentCases)), {
  ssr: false,
  loading: inPlace(null),
})

const AgentSideBySide = dynamic(
  () => loadPart(() => import('./agent-side-by-side').then((module) => module.AgentSideBySide)),
  { ssr: false, loading: inPlace(null) },
)

const TurnsTab = dynamic(() => loadPart(() => import('./turns-tab').then((module) => module.TurnsTab)), {
  ssr: false,
  loading: inPlace(null),
})

/** Wide enough for the playground beside the form; `.beside` has the same width. */
const WIDE = '(min-width: 90em)'

const PAGE = { limit: '100', offset: '0' }

const unheard = () => {}
/** For a read-only form. */
const UNCHANGED = { change: unheard, error: null, readOnly: true }

export function AgentEditor({ agent }: { agent: Agent }) {
  const trpc = useTRPC()
  const { agents } = useTRPCClient()
  const { may } = useTenant()
  const { id } = agent
  const tab = useTab(['edit', 'schema', 'playground', 'compare', 'cases', 'turns'])
  const mayWrite = may('agent:write')
  const readOnly = agent.status === 'archived' || !mayWrite
  const versioned = useVersioned<Agent, AgentForm>(
    agent,
    {
      keys: {
        one: trpc.agents.open.queryKey({ id }),
        versions: trpc.agents.versions.queryKey({ id, page: PAGE }),
        kind: trpc.agents.pathKey(),
      },
      formOf,
      open: (signal) => agents.open.query({ id }, { signal }),
      readVersion: async (version) => formOf(await agents.version.query({ id, version: String(version) })),
      listVersions: () => agents.versions.query({ id, page: PAGE }),
      saveDraft: (body, signal) => agents.saveDraft.mutate({ id, body }, { signal }),
      publish: (draft) => agents.publish.mutate({ id, ...draft }),
      restoreVersion: (version, revision) => agents.restore.mutate({ id, version: String(version), revision }),
      findUsers: () => agents.users.query({ id }),
      runCases: (draft, signal) => agents.runCases.mutate({ id, body: { draft } }, { signal }),
    },
    { versions: tab === 'versions', readOnly },
  )
  const [problem, setProblem] = useState<string | null>(null)
  const { draft, publish } = versioned
  const error = publish.error ?? asError(versioned.problems)
  const onScreen = readOnly ? null : { form: draft.value, state: onScreenState(versioned), obstacle: problem }
  const talk = useTalk(agent, onScreen)
  const wide = useMediaQuery(WIDE)
  const takeSchema = (outputSchema: JsonObject | null) => draft.change({ outputSchema })
  const form = { form: draft.value, change: draft.change, readOnly }
  return (
    <VersionedScreen
      noun="agent"
      resource={agent}
      versioned={versioned}
      problem={problem}
      onRestart={() => setProblem(null)}
      tab={tab}
      tabs={[
        {
          name: 'edit',
          label: 'Edit',
          panel: (
            <div className={styles.beside}>
              <EditTab agentId={id} {...form} error={error} />
              {wide && (
                <section aria-label="Playground">
                  <Playground talk={talk} onScreen={onScreen} onSchema={takeSchema} compact />
                </section>
              )}
            </div>
          ),
        },
        {
          name: 'schema',
          label: 'Output schema',
          stays: true,
          panel: <SchemaTab {...form} onProblem={setProblem} error={error} />,
        },
        {
          name: 'playground',
          label: 'Playground',
          panel: <Playground talk={talk} onScreen={onScreen} onSchema={takeSchema} />,
        },
        { name: 'compare', label: 'Compare', panel: <Compare agent={agent} onScreen={onScreen} /> },
        { name: 'cases', label: 'Test cases', panel: <AgentCases agent={agent} onScreen={onScreen} /> },
        { name: 'turns', label: 'Turns', panel: <TurnsTab agentId={id} /> },
      ]}
      view={(content) => (
        <>
          <EditTab agentId={id} form={content} {...UNCHANGED} />
          <SchemaTab form={content} {...UNCHANGED} onProblem={unheard} />
        </>
      )}
      compare={(before, now, sides) => <AgentSideBySide before={before} now={now} sides={sides} />}
      may={{ write: mayWrite, publish: may('agent:publish') }}
      verbs={useAgentVerbs()}
    />
  )
}
