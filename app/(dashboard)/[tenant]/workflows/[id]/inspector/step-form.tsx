'use client'
import { Collapse, Skeleton, Stack, UnstyledButton } from '@mantine/core'
import { ChevronDown, ChevronRight } from 'lucide-react'
import dynamic from 'next/dynamic'
import { type ComponentType, useId, useState } from 'react'
import { inPlace, loadPart } from '@/app/_ui/part'
import type { JsonObject, JsonValue } from '@/server/definition/json'
import type { CatalogField } from '@/server/steps/catalog'
import type { FieldHint } from '@/server/steps/form'
import type { Problem } from '@/server/workflows/check/problem'
import { isObject } from '../model/json-text'
import { inWordsAt, problemUnderField, textOf } from '../model/problem-words'
import type { Called } from '../model/step-names'
import { ActionsWidget } from '../widgets/actions-widget'
import { BranchesWidget } from '../widgets/branches-widget'
import { CasesWidget } from '../widgets/cases-widget'
import { NumberWidget, SelectWidget, SwitchWidget } from '../widgets/choice-widget'
import { DurationWidget } from '../widgets/duration-widget'
import { ExpressionWidget } from '../widgets/expression-widget'
import { ExpressionsWidget } from '../widgets/expressions-widget'
import { FieldsWidget } from '../widgets/fields-widget'
import { JsonWidget } from '../widgets/json-widget'
import { KeyValueWidget } from '../widgets/key-value-widget'
import { AgentWidget, ToolWidget, WorkflowWidget } from '../widgets/resource-widget'
import { SaveAsWidget } from '../widgets/save-as-widget'
import { TemplateAreaWidget, TemplateWidget } from '../widgets/template-widget'
import { TextareaWidget, TextWidget } from '../widgets/text-widget'
import { VersionWidget } from '../widgets/version-widget'
import type { WidgetProps } from '../widgets/widget'
import styles from './step-form.module.css'

// Only steps that call a tool need it, so it is not part of the page's first load.
const ArgumentsWidget = dynamic<WidgetProps>(
  () => loadPart(() => import('../widgets/arguments-widget').then((module) => module.ArgumentsWidget)),
  { ssr: false, loading: inPlace(<Skeleton height={72} radius="md" />) },
)

// Only steps that ask people have these.
const AssigneesWidget = dynamic<WidgetProps>(
  () => loadPart(() => import('../widgets/people-widgets').then((module) => module.AssigneesWidget)),
  { ssr: false, loading: inPlace(<Skeleton height={91} radius="md" />) },
)
const CountsWidget = dynamic<WidgetProps>(
  () => loadPart(() => import('../widgets/people-widgets').then((module) => module.CountsWidget)),
  { ssr: false, loading: inPlace(<Skeleton height={72} radius="md" />) },
)

const LateShownWidget = dynamic<WidgetProps>(
  () => loadPart(() => import('../widgets/shown-widget').then((module) => module.ShownWidget)),
  { ssr: false, loading: inPlace(<Skeleton height={72} radius="md" />) },
)
const RemindersWidget = dynamic<WidgetProps>(
  () => loadPart(() => import('../widgets/reminders-widget').then((module) => module.RemindersWidget)),
  { ssr: false, loading: inPlace(<Skeleton height={72} radius="md" />) },
)

// Below *More*.
const RetryWidget = dynamic<WidgetProps>(
  () => loadPart(() => import('../widgets/retry-widget').then((module) => module.RetryWidget)),
  { ssr: false, loading: inPlace(<Skeleton height={72} radius="md" />) },
)

// Only steps that wait have these.
const IsoDurationWidget = dynamic<WidgetProps>(
  () => loadPart(() => import('../widgets/iso-duration-widget').then((module) => module.IsoDurationWidget)),
  { ssr: false, loading: inPlace(<Skeleton height={72} radius="md" />) },
)

// Only scripts call hosts of their own.
const HostsWidget = dynamic<WidgetProps>(
  () => loadPart(() => import('../widgets/hosts-widget').then((module) => module.HostsWidget)),
  { ssr: false, loading: inPlace(<Skeleton height={72} radius="md" />) },
)

/** Takes the height of its rows before its code is there, so that nothing below moves. */
function ShownWidget(props: WidgetProps) {
  const rows = Array.isArray(props.value) ? props.value.length : 0
  return (
    <div style={{ minHeight: 94 + 143 * rows }}>
      <LateShownWidget {...props} />
    </div>
  )
}

const WIDGETS: Record<FieldHint['widget'], ComponentType<WidgetProps>> = {
  text: TextWidget,
  textarea: TextareaWidget,
  'save-as': SaveAsWidget,
  template: TemplateWidget,
  'template-area': TemplateAreaWidget,
  number: NumberWidget,
  switch: SwitchWidget,
  select: SelectWidget,
  json: JsonWidget,
  'key-value': KeyValueWidget,
  fields: FieldsWidget,
  actions: ActionsWidget,
  arguments: ArgumentsWidget,
  code: TextareaWidget,
  expression: ExpressionWidget,
  expressions: ExpressionsWidget,
  branches: BranchesWidget,
  cases: CasesWidget,
  tool: ToolWidget,
  agent: AgentWidget,
  workflow: WorkflowWidget,
  version: VersionWidget,
  duration: DurationWidget,
  'iso-duration': IsoDurationWidget,
  retry: RetryWidget,
  reminders: RemindersWidget,
  assignees: AssigneesWidget,
  counts: CountsWidget,
  shown: ShownWidget,
  hosts: HostsWidget,
}

interface Props {
  fields: readonly CatalogField[]
  /** JSON Schema of the values. */
  schema: JsonObject
  values: JsonObject
  problems: readonly Problem[]
  onChange: (name: string, value: JsonValue | undefined, called?: Called) => void
  onRenameField: (name: string, from: string, to: string, action?: string) => void
  readOnly: boolean
}

/** A step's form as the catalog describes it, so that a new step type needs no code here. */
export function StepForm({ fields, ...rest }: Props) {
  const [plain, advanced] = [fields.filter((field) => !field.advanced), fields.filter((field) => field.advanced)]
  // Users must not overlook a value or problem in a collapsed field.
  const notable = advanced.some(
    ({ name }) => rest.values[name] !== undefined || problemAt(rest.problems, name) !== null,
  )
  return (
    <Stack gap="md">
      {plain.map((field) => (
        <FormField key={field.name} field={field} {...rest} />
      ))}
      {advanced.length > 0 && (
        <More notable={notable}>
          {advanced.map((field) => (
            <FormField key={field.name} field={field} {...rest} />
          ))}
        </More>
      )}
    </Stack>
  )
}

function More({ notable, children }: { notable: boolean; children: React.ReactNode }) {
  const [chosen, setOpen] = useState<boolean | null>(null)
  const open = chosen ?? notable
  const id = useId()
  const Chevron = open ? ChevronDown : ChevronRight
  return (
    <div>
      <UnstyledButton
        className={styles.more}
        aria-expanded={open}
        aria-controls={id}
        onClick={() => setOpen(!open)}
        data-more
      >
        <Chevron size={16} aria-hidden /> More
      </UnstyledButton>
      <Collapse id={id} expanded={open}>
        <Stack gap="md" pt="xs">
          {open && children}
        </Stack>
      </Collapse>
    </div>
  )
}

function FormField({
  field,
  schema,
  values,
  problems,
  onChange,
  onRenameField,
  readOnly,
}: Omit<Props, 'fields'> & { field: CatalogField }) {
  // A newer catalog may name a widget unknown to this page: edit the value as JSON.
  const Widget = WIDGETS[field.widget] ?? JsonWidget
  const properties = isObject(schema.properties) ? schema.properties : {}
  const own = properties[field.name]
  return (
    <Widget
      field={field}
      schema={isObject(own) ? own : {}}
      value={values[field.name]}
      siblings={values}
      problem={problemAt(problems, field.name)}
      problems={problems.filter((problem) => problem.field !== undefined && rootOf(problem.field) === field.name)}
      onChange={(value, called) => onChange(field.name, value, called)}
      onRenameField={(from, to, action) => onRenameField(field.name, from, to, action)}
      readOnly={readOnly}
    />
  )
}

/** The problems of a field and its nested values, as one text. */
function problemAt(problems: readonly Problem[], name: string): string | null {
  const here = problems.filter(({ field }) => field !== undefined && rootOf(field) === name)
  if (here.length === 0) return null
  return here
    .map((problem) => {
      const text = textOf(problem)
      return problem.field === name ? problemUnderField(text) : inWordsAt(problem.field ?? '', text)
    })
    .join(' ')
}

export function rootOf(field: string): string {
  return field.split(/[.[]/, 1)[0] ?? field
}
