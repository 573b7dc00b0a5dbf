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
import { useToolVerbs } from '../use-tool-verbs'
import { EditTab } from './edit-tab'
import { TestTab } from './test-tab'
import { formOf, type Tool } from './tool-form'
import { useProblems } from './use-problems'

const TABS = ['edit', 'test', 'versions'] as const
const PAGE = { limit: '100', offset: '0' }

/** One tool: what it does, a place to try it, and its history. */
export function ToolEditor({ tool }: { tool: Tool }) {
  const trpc = useTRPC()
  const client = useTRPCClient()
  const queries = useQueryClient()
  const url = useUrlState()
  const { may, id: tenantId } = useTenant()
  const verbs = useToolVerbs()
  const { id } = tool
  const draft = useDraft(formOf(tool), tool.version, `millrace-draft-${tenantId}-${id}`)
  const problems = useProblems()
  const [publishing, setPublishing] = useState(false)
  // Counts what was thrown away, so that fields which keep what is typed begin anew.
  const [discards, setDiscards] = useState(0)
  const archived = tool.status === 'archived'
  const mayWrite = may('tool:write')
  const readOnly = archived || !mayWrite
  const tab = TABS.find((name) => name === url.get('tab')) ?? 'edit'
  // Once seen it stays, with what is typed there and is not whole yet.
  const [visited, setVisited] = useState(tab === 'edit')
  if (tab === 'edit' && !visited) setVisited(true)

  const read = async (version: number) =>
    formOf(await client.tools.version.query({ toolId: id, version: String(version) }))
  const showTool = (saved: Tool) => {
    queries.setQueryData(trpc.tools.get.queryKey({ id }), saved)
    return queries.invalidateQueries({ queryKey: trpc.tools.pathKey() })
  }
  // A conflict says nothing of the fields: the newer version is fetched and shown as what it is.
  const update = useMutation(
    trpc.tools.update.mutationOptions({
      onError: (error) =>
        errorOf(error).code === 'VERSION_CONFLICT'
          ? queries.invalidateQueries({ queryKey: trpc.tools.get.queryKey({ id }) })
          : undefined,
    }),
  )
  const save = () => {
    const sent = draft.value
    update.mutate(
      { id, body: { ...sent, version: draft.version } },
      {
        onSuccess: (saved) => {
          draft.settle(sent, { value: formOf(saved), version: saved.version })
          return showTool(saved)
        },
      },
    )
  }
  const discard = () => {
    update.reset()
    problems.clear()
    setDiscards((now) => now + 1)
    draft.discard()
  }
  const publish = useMutation(
    trpc.tools.publish.mutationOptions({
      onSuccess: (saved) => {
        setPublishing(false)
        notifyDone(`Version ${saved.version} is published.`)
        return showTool(saved)
      },
    }),
  )
  const restore = useMutation(
    trpc.tools.restore.mutationOptions({
      onSuccess: (saved) => {
        notifyDone(`Saved as version ${saved.version}. It is not published yet.`)
        url.set({ version: null, with: null })
        return showTool(saved)
      },
      onError: (error) => notifyError(error, 'The version was not restored'),
    }),
  )
  const versions = useQuery({ ...trpc.tools.versions.queryOptions({ id, page: PAGE }), enabled: tab === 'versions' })
  const before = useQuery({
    queryKey: ['version', id, tool.publishedVersion],
    queryFn: () => read(tool.publishedVersion ?? 1),
    enabled: publishing && tool.publishedVersion !== null,
    staleTime: Infinity,
  })
  const conflict = update.error !== null && errorOf(update.error).code === 'VERSION_CONFLICT'
  const failed = conflict ? null : update.error
  const ifMatch = `"${tool.version}"`

  return (
    <>
      <VersionedHeader
        noun="tool"
        resource={tool}
        dirty={draft.dirty || problems.first !== null}
        obstacle={problems.first ?? (draft.behind ? 'Decide first what becomes of the newer version' : null)}
        saving={update.isPending}
        onSave={save}
        onDiscard={discard}
        onPublish={() => {
          publish.reset()
          setPublishing(true)
        }}
        mayWrite={mayWrite}
        mayPublish={may('tool:publish')}
      />
      <PageBody>
        <DraftNotes
          noun="tool"
          archived={archived}
          onRestore={may('tool:publish') ? () => verbs.restore(tool) : null}
          restoring={verbs.restoring}
          behind={draft.behind}
          version={tool.version}
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
            <Tabs.Tab value="test">Test</Tabs.Tab>
            <Tabs.Tab value="versions">Versions</Tabs.Tab>
          </Tabs.List>
          <Tabs.Panel value="edit" keepMounted={visited}>
            <EditTab
              form={draft.value}
              change={draft.change}
              report={problems.report}
              error={failed}
              readOnly={readOnly}
            />
          </Tabs.Panel>
          <Tabs.Panel value="test">
            <TestTab tool={tool} dirty={draft.dirty} />
          </Tabs.Panel>
          <Tabs.Panel value="versions">
            <VersionsTab
              id={id}
              items={versions.data?.items}
              total={versions.data?.total ?? 0}
              error={versions.error}
              onRetry={() => versions.refetch()}
              read={read}
              onRestore={readOnly ? null : (version) => restore.mutate({ id, version: String(version), ifMatch })}
              obstacle={draft.dirty ? 'Save or discard your changes first' : null}
              restoring={restore.isPending}
            />
          </Tabs.Panel>
        </Tabs>
      </PageBody>
      <PublishDialog
        opened={publishing}
        onClose={() => setPublishing(false)}
        noun="tool"
        version={tool.version}
        before={
          tool.publishedVersion === null
            ? null
            : before.data && { version: tool.publishedVersion, content: before.data }
        }
        after={formOf(tool)}
        onPublish={() => publish.mutate({ id, ifMatch })}
        busy={publish.isPending}
        error={publish.error}
      />
    </>
  )
}
