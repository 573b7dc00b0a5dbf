'use client'
import { Tabs } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { errorOf, useTRPC, useTRPCClient } from '@/app/_trpc/client'
import { notifyDone, notifyError } from '@/app/_ui/notify'
import { PageBody } from '@/app/_ui/page-body'
import { useUrlState } from '@/app/_ui/use-url-state'
import { DraftNotes } from '../../_versioned/draft-notes'
import { PublishDialog } from '../../_versioned/publish-dialog'
import { useDraft } from '../../_versioned/use-draft'
import { VersionedHeader } from '../../_versioned/versioned-header'
import { VersionsTab } from '../../_versioned/versions-tab'
import { useTenant } from '../../tenant-context'
import { useAgentVerbs } from '../use-agent-verbs'
import { type Agent, formOf } from './agent-form'
import { EditTab } from './edit-tab'
import { Playground } from './playground'
import { SchemaTab } from './schema-tab'

const TABS = ['edit', 'schema', 'playground', 'versions'] as const
const PAGE = { limit: '100', offset: '0' }

/** One agent: what it says, how it answers, a place to try it, and its history. */
export function AgentEditor({ agent }: { agent: Agent }) {
  const trpc = useTRPC()
  const client = useTRPCClient()
  const queries = useQueryClient()
  const url = useUrlState()
  const { may, id: tenantId } = useTenant()
  const verbs = useAgentVerbs()
  const agentId = agent.id
  const draft = useDraft(formOf(agent), agent.version, `millrace-draft-${tenantId}-${agentId}`)
  const [problem, setProblem] = useState<string | null>(null)
  const [publishing, setPublishing] = useState(false)
  // Counts what was thrown away, so that fields which keep what is typed begin anew.
  const [discards, setDiscards] = useState(0)
  const archived = agent.status === 'archived'
  const mayWrite = may('agent:write')
  const readOnly = archived || !mayWrite
  const tab = TABS.find((name) => name === url.get('tab')) ?? 'edit'
  // Once seen it stays, with what is typed there and is not whole yet.
  const [visited, setVisited] = useState(tab === 'schema')
  if (tab === 'schema' && !visited) setVisited(true)

  const read = async (version: number) =>
    formOf(await client.agents.version.query({ agentId, version: String(version) }))
  const showAgent = (saved: Agent) => {
    queries.setQueryData(trpc.agents.get.queryKey({ agentId }), saved)
    return queries.invalidateQueries({ queryKey: trpc.agents.pathKey() })
  }
  // A conflict says nothing of the fields: the newer version is fetched and shown as what it is.
  const update = useMutation(
    trpc.agents.update.mutationOptions({
      onError: (error) => {
        if (errorOf(error).code === 'VERSION_CONFLICT')
          queries.invalidateQueries({ queryKey: trpc.agents.get.queryKey({ agentId }) }).catch(() => {})
      },
    }),
  )
  const save = () => {
    const sent = draft.value
    update.mutate(
      { agentId, body: { ...sent, version: draft.version } },
      {
        onSuccess: (saved) => {
          draft.settle(sent, { value: formOf(saved), version: saved.version })
          return showAgent(saved)
        },
      },
    )
  }
  const discard = () => {
    update.reset()
    setProblem(null)
    setDiscards((now) => now + 1)
    draft.discard()
  }
  const publish = useMutation(
    trpc.agents.publish.mutationOptions({
      onSuccess: (saved) => {
        setPublishing(false)
        notifyDone(`Version ${saved.version} is published.`)
        return showAgent(saved)
      },
    }),
  )
  const restore = useMutation(
    trpc.agents.restore.mutationOptions({
      onSuccess: (saved) => {
        notifyDone(`Saved as version ${saved.version}. It is not published yet.`)
        url.set({ version: null, with: null })
        return showAgent(saved)
      },
      onError: (error) => notifyError(error, 'The version was not restored'),
    }),
  )
  const versions = useQuery({
    ...trpc.agents.versions.queryOptions({ agentId, page: PAGE }),
    enabled: tab === 'versions',
  })
  const before = useQuery({
    queryKey: ['version', agentId, agent.publishedVersion],
    queryFn: () => read(agent.publishedVersion ?? 1),
    enabled: publishing && agent.publishedVersion !== null,
    staleTime: Infinity,
  })
  const conflict = update.error !== null && errorOf(update.error).code === 'VERSION_CONFLICT'
  const failed = conflict ? null : update.error
  const ifMatch = `"${agent.version}"`

  return (
    <>
      <VersionedHeader
        noun="agent"
        resource={agent}
        dirty={draft.dirty || problem !== null}
        obstacle={problem ?? (draft.behind ? 'Decide first what becomes of the newer version' : null)}
        saving={update.isPending}
        onSave={save}
        onDiscard={discard}
        onPublish={() => {
          publish.reset()
          setPublishing(true)
        }}
        mayWrite={mayWrite}
        mayPublish={may('agent:publish')}
      />
      <PageBody>
        <DraftNotes
          noun="agent"
          archived={archived}
          onRestore={may('agent:publish') ? () => verbs.restore(agent) : null}
          restoring={verbs.restoring}
          behind={draft.behind}
          version={agent.version}
          onTakeTheirs={discard}
          onKeepMine={() => {
            update.reset()
            draft.rebase()
          }}
          recovered={draft.recovered}
          onDiscard={discard}
          error={failed}
        />
        <Tabs
          key={discards}
          value={tab}
          onChange={(next) => url.set({ tab: next === 'edit' ? null : next })}
          keepMounted={false}
        >
          <Tabs.List mb="lg">
            <Tabs.Tab value="edit">Edit</Tabs.Tab>
            <Tabs.Tab value="schema">Output schema</Tabs.Tab>
            <Tabs.Tab value="playground">Playground</Tabs.Tab>
            <Tabs.Tab value="versions">Versions</Tabs.Tab>
          </Tabs.List>
          <Tabs.Panel value="edit">
            <EditTab
              agentId={agentId}
              form={draft.value}
              change={draft.change}
              error={failed ?? publish.error}
              readOnly={readOnly}
            />
          </Tabs.Panel>
          <Tabs.Panel value="schema" keepMounted={visited}>
            <SchemaTab
              form={draft.value}
              change={draft.change}
              onProblem={setProblem}
              error={failed}
              readOnly={readOnly}
            />
          </Tabs.Panel>
          <Tabs.Panel value="playground">
            <Playground agent={agent} dirty={draft.dirty} />
          </Tabs.Panel>
          <Tabs.Panel value="versions">
            <VersionsTab
              id={agentId}
              items={versions.data?.items}
              total={versions.data?.total ?? 0}
              error={versions.error}
              onRetry={() => versions.refetch()}
              read={read}
              onRestore={readOnly ? null : (version) => restore.mutate({ agentId, version: String(version), ifMatch })}
              obstacle={draft.dirty ? 'Save or discard your changes first' : null}
              restoring={restore.isPending}
            />
          </Tabs.Panel>
        </Tabs>
      </PageBody>
      <PublishDialog
        opened={publishing}
        onClose={() => setPublishing(false)}
        noun="agent"
        version={agent.version}
        before={
          agent.publishedVersion === null
            ? null
            : before.data && { version: agent.publishedVersion, content: before.data }
        }
        after={formOf(agent)}
        onPublish={() => publish.mutate({ agentId, ifMatch })}
        busy={publish.isPending}
        error={publish.error}
      />
    </>
  )
}
