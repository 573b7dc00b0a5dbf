'use client'
import { NativeSelect, SegmentedControl } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { Play } from 'lucide-react'
import { useState } from 'react'
import { useTRPC } from '@/app/_trpc/client'
import { CodeBlock } from '@/app/_ui/code-block'
import { CodeEditor } from '@/app/_ui/code-editor'
import { ErrorState } from '@/app/_ui/error-state'
import { ReasonButton } from '@/app/_ui/reason-button'
import { shapeOf } from '../../_arguments/shape'
import { curl, useOrigin } from '../../_versioned/curl'
import { errorAt } from '../../_versioned/field-errors'
import { pretty, readObject } from '../../_versioned/json'
import { sampleOf } from '../../_versioned/schema-samples'
import styles from '../../_versioned/versioned.module.css'
import { useTenant } from '../../tenant-context'
import { ArgsForm } from './args-form'
import { TestAnswer } from './test-answer'
import type { Tool } from './tool-form'

/**
 * Calls the tool as it is on the screen, and shows what an API caller gets. Unsaved changes are saved first: testing the
 * code from before them would say nothing about them.
 */
export function TestTab({
  tool,
  unsaved,
  saving,
  saveError,
}: {
  tool: Tool
  /** How to save the changes, and why that is not possible now; null when there are none. */
  unsaved: { save: (then: (saved: Tool) => void) => void; obstacle: string | null } | null
  saving: boolean
  saveError: unknown
}) {
  const trpc = useTRPC()
  const { may, id: tenantId } = useTenant()
  const origin = useOrigin()
  const schema = tool.inputSchema
  const hasRows = schema !== null && shapeOf({ ...schema, type: 'object' }, schema).fields.length > 0
  const [args, setArgs] = useState(() => pretty(sampleOf(schema ?? { type: 'object' })))
  const [dataContext, setDataContext] = useState('')
  const [version, setVersion] = useState('latest')
  const [asForm, setAsForm] = useState(hasRows)
  const invoke = useMutation(trpc.tools.invoke.mutationOptions())
  const readArgs = readObject(args)
  const readContext = dataContext.trim() === '' ? { value: {} } : readObject(dataContext)
  const problem =
    readArgs.problem !== undefined
      ? `Arguments: ${readArgs.problem}`
      : readContext.problem !== undefined
        ? `Data context: ${readContext.problem}`
        : null
  // Only the latest version can be the one on the screen.
  const first = version === 'latest' ? unsaved : null
  const obstacle =
    tool.status === 'archived'
      ? 'Archived tools cannot be called'
      : may('tool:invoke')
        ? (problem ?? first?.obstacle ?? null)
        : 'To call it, you need the role operator or higher'
  const body = {
    args: readArgs.value ?? {},
    ...(readContext.value && Object.keys(readContext.value).length > 0 ? { dataContext: readContext.value } : {}),
    ...(version === 'latest' ? {} : { version: /^\d+$/.test(version) ? Number(version) : version }),
  }
  // The version that the answer on the screen is of.
  const [tested, setTested] = useState<number | null>(null)
  const call = ({ version: saved }: Tool) => {
    setTested(version === 'latest' ? saved : null)
    invoke.mutate({ toolId: tool.id, body })
  }
  const run = () => {
    if (obstacle !== null || invoke.isPending || saving) return
    if (first) first.save(call)
    else call(tool)
  }
  const outdated = tested !== null && !invoke.isPending && (unsaved !== null || tested !== tool.version)
  const form = asForm && hasRows && readArgs.value !== undefined
  const said = errorAt(invoke.error, 'args')
  return (
    <div className={styles.columns}>
      <form
        className={styles.group}
        aria-label="Test"
        onSubmit={(event) => {
          event.preventDefault()
          run()
        }}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || !(event.metaKey || event.ctrlKey)) return
          event.preventDefault()
          run()
        }}
      >
        {hasRows && (
          <SegmentedControl
            aria-label="Arguments as"
            value={form ? 'form' : 'json'}
            onChange={(next) => setAsForm(next === 'form')}
            disabled={readArgs.value === undefined}
            data={[
              { value: 'form', label: 'Form' },
              { value: 'json', label: 'JSON' },
            ]}
            style={{ justifySelf: 'start' }}
          />
        )}
        {form ? (
          <ArgsForm
            schema={schema}
            value={readArgs.value ?? {}}
            onChange={(value) => setArgs(pretty(value))}
            error={invoke.error}
          />
        ) : (
          <div>
            <div className={styles.label}>Arguments</div>
            <CodeEditor label="Arguments" language="json" value={args} onChange={setArgs} minHeight="8rem" />
            {(readArgs.problem ?? said) && (
              <p className={styles.error} role="alert">
                {readArgs.problem ?? said}
              </p>
            )}
          </div>
        )}
        <details>
          <summary>Data context</summary>
          <div style={{ marginTop: '0.5rem' }}>
            <CodeEditor
              label="Data context"
              language="json"
              value={dataContext}
              onChange={setDataContext}
              placeholder={'{ "customer": "A-17" }'}
              minHeight="4rem"
            />
            {readContext.problem !== undefined && (
              <p className={styles.error} role="alert">
                {readContext.problem}
              </p>
            )}
          </div>
        </details>
        <div className={styles.request} style={{ gridTemplateColumns: 'minmax(0, 14rem) auto 1fr' }}>
          <NativeSelect
            label="Version"
            value={version}
            onChange={(event) => setVersion(event.currentTarget.value)}
            data={versionsOf(tool)}
          />
          <ReasonButton
            type="submit"
            reason={obstacle}
            loading={invoke.isPending || saving}
            leftSection={<Play size={16} aria-hidden />}
          >
            {first ? 'Save and run test' : 'Run test'}
          </ReasonButton>
        </div>
        <span className={styles.note}>{obstacle === null ? 'Run with Ctrl or ⌘ + Enter.' : `${obstacle}.`}</span>
      </form>
      <section className={styles.group} aria-label="Answer">
        {saveError ? <ErrorState error={saveError} title="The changes were not saved, so nothing was tested" /> : null}
        {outdated && (
          <p className={styles.note} role="status">
            This answer is from version {tested}, before your latest changes.
          </p>
        )}
        <TestAnswer answer={invoke.data ?? null} error={invoke.error} busy={invoke.isPending} />
        <div className={styles.label}>The same call with curl</div>
        <CodeBlock
          text={curl({ origin, tenantId, path: `/api/tools/${tool.id}/invoke`, body })}
          label="The same call with curl"
          wrap
        />
      </section>
    </div>
  )
}

function versionsOf({ version, publishedVersion, kind }: Tool) {
  if (kind === 'builtin') return [{ value: 'latest', label: 'The only version' }]
  const earlier = Array.from({ length: Math.min(49, version - 1) }, (_, index) => String(version - 1 - index))
  return [
    { value: 'latest', label: `Latest (version ${version})` },
    ...(publishedVersion === null ? [] : [{ value: 'published', label: `Published (version ${publishedVersion})` }]),
    ...earlier.map((value) => ({ value, label: `Version ${value}` })),
  ]
}
