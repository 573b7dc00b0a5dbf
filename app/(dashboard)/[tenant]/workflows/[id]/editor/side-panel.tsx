'use client'
import { useLayoutEffect, useRef, useState } from 'react'
import type { JsonValue } from '@/server/definition/json'
import type { Definition } from '@/server/definition/schema'
import type { Catalog } from '@/server/steps/catalog'
import type { Problem } from '@/server/workflows/check/problem'
import type { ScreenActions } from '../actions/use-editor-actions'
import { Inspector } from '../inspector/inspector'
import { StartPanel } from '../inspector/start-panel'
import { WorkflowPanel } from '../inspector/workflow-panel'
import { entryOf, findStep, nameOf, START } from '../model/definition'
import { setPayload, setStepValue } from '../model/edit-steps'
import type { ValuesSource } from '../model/shown-values'
import { type Called, nameAfter } from '../model/step-names'
import type { TestedSteps } from '../parts/tested'

interface Props {
  workflowId: string
  definition: Definition
  catalog: Catalog
  selection: readonly string[]
  problems: readonly Problem[]
  actions: ScreenActions
  onRedefine: (label: string, command: (definition: Definition) => Definition, target?: string) => void
  /** The shown test run's result for each step. */
  tested: TestedSteps | null
  /** Shows the data of the test run. */
  onTested: () => void
  readOnly: boolean
}

/** The form for the selection: a step, START, or the workflow itself. */
export function SidePanel(props: Props) {
  const { selection } = props
  const [only] = selection.length === 1 ? selection : []
  const top = useRef<HTMLDivElement>(null)
  const shown = useRef(only)
  const [source, onSource] = useState<ValuesSource>('newest')
  // Another form starts at its top, regardless of the previous form's scroll position.
  useLayoutEffect(() => {
    if (shown.current !== only) top.current?.parentElement?.scrollTo(0, 0)
    shown.current = only
  }, [only])
  return (
    <div ref={top} data-form-of={only ?? ''} data-read-only={props.readOnly || undefined}>
      <Form {...props} only={only} source={source} onSource={onSource} />
    </div>
  )
}

function Form({
  only,
  source,
  onSource,
  ...props
}: Props & { only: string | undefined; source: ValuesSource; onSource: (source: ValuesSource) => void }) {
  const { definition, selection, onRedefine, tested, onTested, ...rest } = props
  if (only === START) {
    return (
      <StartPanel
        {...rest}
        definition={definition}
        onChange={(fields) => onRedefine('edit START', (before) => setPayload(before, fields), 'payload')}
      />
    )
  }
  const step = only === undefined ? undefined : findStep(definition, only)
  if (!step) {
    if (selection.length > 1) return <p>{selection.length} steps selected.</p>
    return <WorkflowPanel definition={definition} onRedefine={onRedefine} readOnly={props.readOnly} />
  }
  const title = entryOf(props.catalog, step.type)?.title ?? step.type
  const change = (name: string, value: JsonValue | undefined, called?: Called) =>
    onRedefine(
      `edit ${name} of ${nameOf(step)}`,
      (before) => {
        const changed = setStepValue(before, props.catalog, step.id, name, value)
        return called ? nameAfter(changed, step.id, title, called) : changed
      },
      `${step.id}:${name}`,
    )
  return (
    <Inspector
      {...rest}
      definition={definition}
      step={step}
      tested={tested?.get(step.id) ?? null}
      onTested={onTested}
      source={source}
      onSource={onSource}
      onChange={change}
      onRedefine={onRedefine}
    />
  )
}
