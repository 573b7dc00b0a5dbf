'use client'
import { NativeSelect, SegmentedControl } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { Play } from 'lucide-react'
import dynamic from 'next/dynamic'
import { useEffect, useRef, useState } from 'react'
import { errorOf, useTRPC } from '@/app/_trpc/client'
import type { RouterOutput } from '@/app/_trpc/types'
import { CodeBlock } from '@/app/_ui/code-block'
import { CodeEditor } from '@/app/_ui/code-editor'
import { ForDevelopers } from '@/app/_ui/for-developers'
import { inPlace, loadPart } from '@/app/_ui/part'
import { ReasonButton } from '@/app/_ui/reason-button'
import { onSendKey } from '@/app/_ui/send-key'
import type { JsonObject } from '@/server/definition/json'
import { shapeOf } from '../../_arguments/shape'
import { AnswerSchema } from '../../_versioned/answer-schema'
import { curl, useOrigin } from '../../_versioned/curl'
import { errorAt } from '../../_versioned/field-errors'
import { pretty, readObject, sameJson } from '../../_versioned/json'
import { ON_SCREEN, type OnScreen, onScreenLabel, testsText } from '../../_versioned/on-screen'
import { givenBy } from '../../_versioned/schema-samples'
import styles from '../../_versioned/versioned.module.css'
import { useTenant } from '../../tenant-context'
import { ArgsForm } from './args-form'
import { TestAnswer } from './test-answer'
import type { Tool, ToolForm } from './tool-form'

const ToolCases = dynamic(() => loadPart(() => import('../../_test-cases/lazy').then((module) => module.ToolCases)), {
  ssr: false,
  loading: inPlace(null),
})

const MORE_DATA = 'Data for the tool'

/**
 * Calls the tool as it is on screen, saved or not, and shows an API caller's response. A response no longer counts as a
 * success once the tool on screen has changed.
 */
export function TestTab({
  tool,
  onScreen,
  onSchema,
}: {
  tool: Tool
  /** Null for users who may not change the tool. They test its versions. */
  onScreen: OnScreen<ToolForm> | null
  /** Sets the schema of the tool's results. */
  onSchema?: (schema: JsonObject | null) => void
}) {
  const trpc = useTRPC()
  const { may, id: tenantId } = useTenant()
  const origin = useOrigin()
  const [version, setVersion] = useState(onScreen ? ON_SCREEN : 'latest')
  const seen = version === ON_SCREEN ? onScreen : null
  const schema = (seen?.form ?? tool).inputSchema
  const hasRows = schema !== null && shapeOf({ ...schema, type: 'object' }, schema).fields.length > 0
  const [args, setArgs] = useState(() => pretty(givenBy(schema ?? undefined) ?? {}))
  const [dataContext, setDataContext] = useState('')
  const [asForm, setAsForm] = useState(hasRows)
  const invokeVersion = useMutation(trpc.tools.invoke.mutationOptions())
  const invokeDraft = useMutation(trpc.tools.invokeDraft.mutationOptions())
  // The tested form of the response on screen, or null for a version.
  const [tested, setTested] = useState<ToolForm | null>(null)
  const [called, setCalled] = useState<{ args: JsonObject; dataContext: JsonObject } | null>(null)
  const invoke = tested ? invokeDraft : invokeVersion
  const answer = useRef<HTMLElement>(null)
  const come = invoke.isPending || invoke.isIdle ? null : invoke.submittedAt
  // The response stands beside the form's first rows or below all of them: far from the button of a long form.
  useEffect(() => {
    if (come !== null) answer.current?.scrollIntoView({ block: 'nearest' })
  }, [come])
  const readArgs = readObject(args)
  const readContext = dataContext.trim() === '' ? { value: {} } : readObject(dataContext)
  const problem =
    readArgs.problem !== undefined
      ? `Arguments: ${readArgs.problem}`
      : readContext.problem !== undefined
        ? `${MORE_DATA}: ${readContext.problem}`
        : null
  // Users who may not call the tool would fill in the form in vain.
  const readOnly = tool.status === 'archived' || !may('tool:invoke')
  const obstacle =
    tool.status === 'archived'
      ? 'Archived tools cannot be called'
      : may('tool:invoke')
        ? (problem ?? seen?.obstacle ?? null)
        : 'To call it, you need the role operator or higher'
  const body = {
    args: readArgs.value ?? {},
    ...(readContext.value && Object.keys(readContext.value).length > 0 ? { dataContext: readContext.value } : {}),
    ...(seen || version === 'latest' ? {} : { version: /^\d+$/.test(version) ? Number(version) : version }),
  }
  const run = () => {
    if (obstacle !== null || invoke.isPending) return
    setTested(seen ? seen.form : null)
    setCalled({ args: body.args, dataContext: readContext.value ?? {} })
    if (seen) invokeDraft.mutate({ toolId: tool.id, body: { ...body, draft: seen.form } })
    else invokeVersion.mutate({ toolId: tool.id, body })
  }
  const outdated = tested !== null && !invoke.isPending && onScreen !== null && !sameJson(tested, onScreen.form)
  const form = asForm && hasRows && readArgs.value !== undefined
  const said = errorAt(invoke.error, 'args')
  const ended = invoke.isPending || outdated ? null : endOf(invoke)
  return (
    <div className={styles.columns}>
      <form
        className={styles.group}
        aria-label="Test"
        data-read-only={readOnly || undefined}
        onSubmit={(event) => {
          event.preventDefault()
          run()
        }}
        onKeyDown={onSendKey(run)}
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
            readOnly={readOnly}
          />
        ) : (
          <div>
            <div className={styles.label}>Arguments</div>
            <CodeEditor
              label="Arguments"
              language="json"
              value={args}
              onChange={setArgs}
              readOnly={readOnly}
              minHeight="8rem"
            />
            {(readArgs.problem ?? said) && (
              <p className={styles.error} role="alert">
                {readArgs.problem ?? said}
              </p>
            )}
          </div>
        )}
        <details>
          <summary>{MORE_DATA}</summary>
          <div style={{ marginTop: '0.5rem' }}>
            <p className={styles.note}>
              What the caller knows besides the arguments, as JSON. The tool reads it as dataContext.
            </p>
            <CodeEditor
              label={MORE_DATA}
              language="json"
              value={dataContext}
              onChange={setDataContext}
              readOnly={readOnly}
              placeholder={readOnly ? '' : '{ "customer": "A-17" }'}
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
            disabled={readOnly}
            onChange={(event) => setVersion(event.currentTarget.value)}
            data={[
              ...(onScreen ? [{ value: ON_SCREEN, label: onScreenLabel(onScreen.state) }] : []),
              ...versionsOf(tool),
            ]}
          />
          <ReasonButton
            type="submit"
            reason={obstacle}
            loading={invoke.isPending}
            leftSection={<Play size={16} aria-hidden />}
          >
            Run test
          </ReasonButton>
        </div>
        <span className={styles.note}>
          {seen && `${testsText(seen.state, tool.version)} `}
          {obstacle === null ? <span className="with-keyboard">Run with Ctrl or ⌘ + Enter.</span> : `${obstacle}.`}
        </span>
      </form>
      <section ref={answer} className={styles.group} aria-label="Answer">
        <TestAnswer answer={invoke.data ?? null} error={invoke.error} busy={invoke.isPending} outdated={outdated} />
        {onScreen && onSchema && ended && 'data' in ended && (
          <AnswerSchema answer={ended.data} open before={onScreen.form.outputSchema} onChange={onSchema} />
        )}
        <ForDevelopers>
          <div className={styles.label}>
            {seen && seen.state !== 'version'
              ? `The call with curl, of version ${tool.version}`
              : 'The same call with curl'}
          </div>
          <CodeBlock
            text={curl({ origin, tenantId, path: `/api/tools/${tool.id}/invoke`, body })}
            label="The same call with curl"
            wrap
          />
        </ForDevelopers>
      </section>
      {tool.kind !== 'builtin' && (
        <div className={styles.across}>
          <ToolCases
            toolId={tool.id}
            onScreen={onScreen}
            obstacle={onScreen ? (obstacle ?? onScreen.obstacle) : null}
            tested={called && ended && { given: called, ended }}
            onOpen={(given) => {
              setArgs(pretty(given.args))
              setDataContext(Object.keys(given.dataContext).length > 0 ? pretty(given.dataContext) : '')
            }}
          />
        </div>
      )}
    </div>
  )
}

/** The last call's outcome; null if the service was unreachable or the error was not the tool's. */
function endOf({ data, error }: { data: RouterOutput['tools']['invoke'] | undefined; error: unknown }) {
  if (error) return errorOf(error).code === 'INVALID_INPUT' ? { failed: 'INVALID_INPUT' } : null
  if (!data) return null
  return 'error' in data ? { failed: data.error.code } : { data: data.data }
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
