'use client'
import { useTRPC, useTRPCClient } from '@/app/_trpc/client'
import { useVersioned } from '../../_versioned/use-versioned'
import { useTab, VersionedScreen } from '../../_versioned/versioned-screen'
import { useTenant } from '../../tenant-context'
import { useToolVerbs } from '../use-tool-verbs'
import { EditTab } from './edit-tab'
import { TestTab } from './test-tab'
import { formOf, type Tool, type ToolForm } from './tool-form'
import { useProblems } from './use-problems'

const PAGE = { limit: '100', offset: '0' }

/** One tool: its configuration, a test tab, and its history. */
export function ToolEditor({ tool }: { tool: Tool }) {
  const trpc = useTRPC()
  const { tools } = useTRPCClient()
  const { may } = useTenant()
  const { id } = tool
  const tab = useTab(['edit', 'test'])
  const versioned = useVersioned<Tool, ToolForm>(
    tool,
    {
      keys: {
        one: trpc.tools.get.queryKey({ id }),
        versions: trpc.tools.versions.queryKey({ id, page: PAGE }),
        kind: trpc.tools.pathKey(),
      },
      formOf,
      readVersion: async (version) => formOf(await tools.version.query({ id, version: String(version) })),
      listVersions: () => tools.versions.query({ id, page: PAGE }),
      update: (body) => tools.update.mutate({ id, body }),
      publish: (ifMatch) => tools.publish.mutate({ id, ifMatch }),
      restoreVersion: (version, ifMatch) => tools.restore.mutate({ id, version: String(version), ifMatch }),
    },
    { versions: tab === 'versions' },
  )
  const problems = useProblems()
  const mayWrite = may('tool:write')
  const { draft, saveError } = versioned
  const obstacle =
    problems.first ??
    (draft.behind ? 'First decide what to do with the newer version' : mayWrite ? null : 'Your role cannot save')
  return (
    <VersionedScreen
      noun="tool"
      resource={tool}
      versioned={versioned}
      problem={problems.first}
      onDiscard={problems.clear}
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
              error={saveError}
              readOnly={tool.status === 'archived' || !mayWrite}
            />
          ),
        },
        {
          name: 'test',
          label: 'Test',
          panel: (
            <TestTab
              tool={tool}
              unsaved={draft.dirty || problems.first !== null ? { save: versioned.save, obstacle } : null}
              saving={versioned.saving}
              saveError={saveError}
            />
          ),
        },
      ]}
      may={{ write: mayWrite, publish: may('tool:publish') }}
      verbs={useToolVerbs()}
    />
  )
}
