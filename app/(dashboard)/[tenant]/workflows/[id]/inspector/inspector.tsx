'use client'
import { ActionIcon, Alert, Button, Group, Menu, Stack, Text, TextInput } from '@mantine/core'
import { Copy, CopyPlus, Ellipsis, Pencil, Trash2 } from 'lucide-react'
import { useCallback, useMemo } from 'react'
import type { JsonObject, JsonValue } from '@/server/definition/json'
import { rootsOf } from '@/server/definition/roots'
import type { Definition, Step } from '@/server/definition/schema'
import type { Catalog } from '@/server/steps/catalog'
import type { Problem } from '@/server/workflows/check/problem'
import type { ScopeEntry as CheckedEntry } from '@/server/workflows/check/scope'
import type { ScreenActions } from '../actions/use-editor-actions'
import { useCommitted } from '../draft/use-committed'
import { entryOf, fieldNames, nameOf, stepLabel } from '../model/definition'
import { changeType } from '../model/edit-steps'
import { fieldChoices } from '../model/field-choices'
import { inWords, textOf } from '../model/problem-words'
import { referencesText, referencesTo } from '../model/references'
import { renameStepProblem } from '../model/rename'
import type { ValuesSource } from '../model/shown-values'
import type { Called } from '../model/step-names'
import { StepIcon } from '../parts/step-icon'
import type { Tested } from '../parts/tested'
import { FixButton } from '../widgets/fix-button'
import { JsonWidget } from '../widgets/json-widget'
import { ScopeProvider } from '../widgets/scope-context'
import { AvailableHere } from './available-here'
import { Connections } from './connections'
import styles from './inspector.module.css'
import { KeepInPlace } from './keep-in-place'
import { rootOf, StepForm } from './step-form'
import { StepTrial } from './step-trial'
import { useRunValues } from './use-run-values'
import { useStepScope } from './use-step-scope'

const NONE: readonly CheckedEntry[] = []
const isName = (field: { name: string }) => field.name === 'name'

interface Props {
  workflowId: string
  definition: Definition
  catalog: Catalog
  step: Step
  problems: readonly Problem[]
  actions: ScreenActions
  /** The shown test run's result for it. */
  tested: Tested | null
  onTested: () => void
  /** Whose values to show beside the fields. */
  source: ValuesSource
  onSource: (source: ValuesSource) => void
  /** Sets a value of the step; `undefined` removes it. */
  onChange: (name: string, value: JsonValue | undefined, called?: Called) => void
  onRedefine: (label: string, command: (definition: Definition) => Definition) => void
  readOnly: boolean
}

/** A step's form with its connections and the data available to it. */
export function Inspector(props: Props) {
  const { workflowId, definition, catalog, step, actions, readOnly } = props
  const { data } = useStepScope(workflowId, definition, step.id)
  const refersTo = useMemo(() => [...rootsOf(step)].toSorted(), [step])
  const { entries, values, run, pending } = useRunValues({
    workflowId,
    stepId: step.id,
    entries: data?.entries ?? NONE,
    refersTo,
    source: props.source,
  })
  const entry = entryOf(catalog, step.type)
  const labelOf = useCallback((stepId: string) => stepLabel(definition, stepId), [definition])
  const choices = useMemo(() => fieldChoices(definition, catalog), [definition, catalog])
  const taken = useMemo(() => fieldNames(definition, catalog, { stepId: step.id }), [definition, catalog, step.id])
  const problems = useMemo(() => props.problems.filter(({ stepId }) => stepId === step.id), [props.problems, step.id])
  const fields = useMemo(() => {
    const common = catalog.common.form.filter(({ name }) => !entry || entry.common.includes(name))
    // The name comes first; the other common fields are rarely changed.
    const [first, rest] = [common.filter(isName), common.filter((field) => !isName(field))]
    // A result whose fields are not known is best used under one name.
    const isPlain = ({ name }: { name: string }) => name === 'saveAs' && entry?.group === 'work'
    return [...first, ...(entry?.form ?? []), ...rest.map((field) => ({ ...field, advanced: !isPlain(field) }))]
  }, [catalog, entry])
  const schema = useMemo<JsonObject>(
    () => ({
      properties: {
        ...(catalog.common.schema.properties as JsonObject | undefined),
        ...(entry?.schema.properties as JsonObject | undefined),
      },
    }),
    [catalog, entry],
  )
  const known = new Set(['', 'edges', ...fields.map(({ name }) => name)])
  const others = problems.filter(({ field }) => !known.has(rootOf(field ?? '')) || field === undefined)
  // Arguments show their fixes beside them.
  const ofArguments = entry?.form.filter(({ widget }) => widget === 'arguments').map(({ name }) => name) ?? []
  const inForm = problems.filter(
    (problem) => !others.includes(problem) && !ofArguments.includes(rootOf(problem.field ?? '')),
  )
  // A text that repeats a mistake has one fix.
  const fixable = new Map(
    inForm.filter((problem) => actions.fixOf(problem) !== null).map((one) => [`${one.field} ${one.message}`, one]),
  )

  return (
    <ScopeProvider
      entries={entries}
      open={data?.open ?? true}
      labelOf={labelOf}
      choices={choices}
      values={values}
      taken={taken}
    >
      <KeepInPlace when={problems}>
        <Stack gap="md">
          <div className={styles.head}>
            <span className={styles.icon}>
              <StepIcon name={entry?.icon ?? 'box'} size={18} />
            </span>
            <div className={styles.words}>
              <h2 className={styles.title} id="inspector-title" tabIndex={-1}>
                {nameOf(step)}
              </h2>
              {nameOf(step) !== entry?.title && (
                <Text size="xs" c="dimmed">
                  {entry?.title ?? step.type}
                </Text>
              )}
            </div>
            <StepMenu
              step={step}
              catalog={catalog}
              actions={actions}
              onRedefine={props.onRedefine}
              readOnly={readOnly}
            />
          </div>
          {entry && (
            <Text size="sm" c="dimmed">
              {entry.description}
            </Text>
          )}
          <StepTrial
            step={step}
            readOnly={props.readOnly}
            tested={props.tested}
            onTested={props.onTested}
            actions={actions}
          />
          {others.map((problem) => (
            <Alert
              key={`${problem.code} ${problem.message}`}
              color={problem.severity === 'error' ? 'red' : 'yellow'}
              variant="light"
              p="xs"
            >
              <Text size="sm">{inWords(textOf(problem))}</Text>
              <FixButton problem={problem} />
            </Alert>
          ))}
          {entry ? (
            <StepForm
              key={`${step.id} ${step.type}`}
              fields={fields}
              schema={schema}
              values={step}
              problems={problems}
              onChange={props.onChange}
              onRenameField={(key, from, to, action) => actions.renameField(step.id, key, from, to, action)}
              readOnly={readOnly}
            />
          ) : (
            <UnknownStep {...props} />
          )}
          {fixable.size > 0 && (
            <Group gap="xs">
              {[...fixable].map(([key, problem]) => (
                <FixButton key={key} problem={problem} />
              ))}
            </Group>
          )}
          <StepIdField key={step.id} {...props} />
          <Connections
            definition={definition}
            catalog={catalog}
            stepId={step.id}
            actions={actions}
            readOnly={readOnly}
          />
          <AvailableHere
            readOnly={readOnly}
            announce={actions.announce}
            pending={pending}
            of={{ workflowId, source: props.source, run, onChange: props.onSource }}
          />
          {!readOnly && (
            <Group gap="xs">
              <Button
                variant="default"
                size="xs"
                leftSection={<Trash2 size={16} aria-hidden />}
                onClick={() => actions.remove([step.id])}
              >
                Delete step
              </Button>
            </Group>
          )}
        </Stack>
      </KeepInPlace>
    </ScopeProvider>
  )
}

function StepIdField({ definition, catalog, step, actions, readOnly }: Props) {
  const { text, setText } = useCommitted(step.id, () => undefined)
  const problem = text === step.id ? null : renameStepProblem(definition, catalog, step.id, text)
  const leave = () => {
    if (text === step.id) return
    if (problem === null) actions.rename(step.id, text)
    else setText(step.id)
  }
  return (
    <TextInput
      id="step-field-id"
      label="Id"
      description={referencesText(referencesTo(definition, step.id).length)}
      classNames={{ input: 'mono' }}
      value={text}
      error={problem}
      readOnly={readOnly}
      onChange={(event) => setText(event.currentTarget.value)}
      onBlur={leave}
      onKeyDown={(event) => {
        if (event.key === 'Enter') leave()
      }}
    />
  )
}

/** A step type unknown to this page: edited as JSON, so that nothing is lost. */
function UnknownStep({ step, onRedefine, readOnly }: Props) {
  const { id, type, ...values } = step
  return (
    <JsonWidget
      field={{ name: 'type', widget: 'json', label: 'Configuration', required: false }}
      schema={{}}
      value={values}
      siblings={step}
      problem={null}
      problems={[]}
      onRenameField={() => undefined}
      readOnly={readOnly}
      onChange={(value) =>
        onRedefine(`edit ${id}`, (definition) => ({
          ...definition,
          steps: definition.steps.map((other) =>
            other.id === id && typeof value === 'object' && value !== null && !Array.isArray(value)
              ? ({ ...value, id, type } as Step)
              : other,
          ),
        }))
      }
    />
  )
}

function StepMenu(props: Pick<Props, 'step' | 'catalog' | 'actions' | 'onRedefine' | 'readOnly'>) {
  const { step, catalog, actions, onRedefine, readOnly } = props
  return (
    <Menu position="bottom-end" width={220}>
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" aria-label={`More for ${nameOf(step)}`}>
          <Ellipsis size={18} aria-hidden />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item leftSection={<Copy size={16} aria-hidden />} onClick={() => actions.copy([step.id])}>
          Copy as JSON
        </Menu.Item>
        {!readOnly && (
          <>
            <Menu.Item leftSection={<Pencil size={16} aria-hidden />} onClick={() => actions.openRename(step.id)}>
              Rename
            </Menu.Item>
            <Menu.Item leftSection={<CopyPlus size={16} aria-hidden />} onClick={() => actions.duplicate(step.id)}>
              Duplicate
            </Menu.Item>
            <Menu.Divider />
            <Menu.Label>Change type to</Menu.Label>
            {catalog.steps
              .filter(({ type }) => type !== step.type)
              .map(({ type, title, icon }) => (
                <Menu.Item
                  key={type}
                  leftSection={<StepIcon name={icon} />}
                  onClick={() =>
                    onRedefine(`change the type of ${nameOf(step)}`, (definition) =>
                      changeType(definition, catalog, step.id, type),
                    )
                  }
                >
                  {title}
                </Menu.Item>
              ))}
            <Menu.Divider />
            <Menu.Item leftSection={<Trash2 size={16} aria-hidden />} onClick={() => actions.removeWithGap([step.id])}>
              Delete and leave a gap
            </Menu.Item>
          </>
        )}
      </Menu.Dropdown>
    </Menu>
  )
}
