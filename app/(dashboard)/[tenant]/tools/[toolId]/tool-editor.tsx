'use client'
import dynamic from 'next/dynamic'
import { useTRPC, useTRPCClient } from '@/app/_trpc/client'
import { inPlace, loadPart } from '@/app/_ui/part'
import { asError } from '../../_versioned/field-errors'
import { onScreenState } from '../../_versioned/on-screen'
import { useVersioned } from '../../_versioned/use-versioned'
import { useTab, VersionedScreen } from '../../_versioned/versioned-screen'
import { useTenant } from '../../tenant-context'
import { useToolVerbs } from '../use-tool-verbs'
import { EditTab } from './edit-tab'
import { TestTab } from './test-tab'
import { formOf, type OpenedTool, type ToolForm } from './tool-form'
import { useProblems } from './use-problems'

const ToolSideBySide = dynamic(
  () => loadPart(() => import('./tool-side-by-side').then((module) => module.ToolSideBySide)),
  { ssr: false, loading: inPlace(null) },
)

const PAGE = { limit: '100', offset: '0' }

const unheard = () => {}

export function ToolEditor({ tool }: { tool: OpenedTool }) {
  const trpc = useTRPC()
  const { tools } = useTRPCClient()
  const { may } = useTenant()
  const { id } = tool
  const tab = useTab(['edit', 'test'])
  const mayWrite = may('tool:write')
  const readOnly = tool.status === 'archived' || !mayWrite
  const versioned = useVersioned<OpenedTool, ToolForm>(
    tool,
    {
      keys: {
        one: trpc.tools.open.queryKey({ id }),
        versions: trpc.tools.versions.queryKey({ id, page: PAGE }),
        kind: trpc.tools.pathKey(),
      },
      formOf,
      // A workspace's own tool never becomes a built-in one.
      open: (signal) => tools.open.query({ id }, { signal }) as Promise<OpenedTool>,
      readVersion: async (version) => formOf(await tools.version.query({ id, version: String(version) })),
      listVersions: () => tools.versions.query({ id, page: PAGE }),
      saveDraft: (body, signal) => tools.saveDraft.mutate({ id, body }, { signal }),
      publish: (draft) => tools.publish.mutate({ id, ...draft }),
      restoreVersion: (version, revision) => tools.restore.mutate({ id, version: String(version), revision }),
      findUsers: () => tools.users.query({ id }),
      runCases: (draft, signal) => tools.runCases.mutate({ id, body: { draft } }, { signal }),
    },
    { versions: tab === 'versions', readOnly },
  )
  const problems = useProblems()
  const { draft, publish } = versioned
  return (
    <VersionedScreen
      noun="tool"
      resource={tool}
      versioned={versioned}
      problem={problems.first}
      onRestart={problems.clear}
      tab={tab}
      tabs={[
        {
          name: 'edit',
          label: 'Edit',
          stays: true,
          panel: (
            <EditTab
              form={draft.value}
              change={draft.change}
              report={problems.report}
              error={publish.error ?? asError(versioned.problems)}
              readOnly={readOnly}
            />
          ),
        },
        {
          name: 'test',
          label: 'Test',
          panel: (
            <TestTab
              tool={tool}
              onScreen={
                readOnly ? null : { form: draft.value, state: onScreenState(versioned), obstacle: problems.first }
              }
              onSchema={(outputSchema) => draft.change({ outputSchema })}
            />
          ),
        },
      ]}
      view={(content) => <EditTab form={content} change={unheard} report={unheard} error={null} readOnly />}
      compare={(before, now, sides) => <ToolSideBySide before={before} now={now} sides={sides} />}
      may={{ write: mayWrite, publish: may('tool:publish') }}
      verbs={useToolVerbs()}
    />
  )
}
