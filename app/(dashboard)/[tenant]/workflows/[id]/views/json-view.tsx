'use client'
import { Button, Group, Text } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useMemo, useRef, useState } from 'react'
import { useTRPC } from '@/app/_trpc/client'
import { CodeEditor } from '@/app/_ui/code-editor'
import { CopyButton } from '@/app/_ui/copy-button'
import { ErrorState } from '@/app/_ui/error-state'
import type { Definition } from '@/server/definition/schema'
import { OPTIONAL_SETTINGS, optionalSettings } from '@/server/definition/settings'
import type { Catalog } from '@/server/steps/catalog'
import type { Problem } from '@/server/workflows/check/problem'
import { definitionOf } from '../model/definition'
import { locateJson, spanOf } from '../model/json-positions'
import { isObject } from '../model/json-text'
import { same } from '../model/merge'
import { inWords, textOf } from '../model/problem-words'
import { completeDefinition } from './json-completions'
import styles from './json-view.module.css'

export interface JsonViewProps {
  definition: Definition
  catalog: Catalog
  problems: Problem[]
  readOnly: boolean
  /** Called with a definition the server can store. */
  onApply: (definition: Definition) => void
}

/** The body of `PUT /api/workflows/:id` as text, exactly as a client would send it. */
export function JsonView({ definition, catalog, problems, readOnly, onApply }: JsonViewProps) {
  const { text, setText, edited, discard } = useText(definition)
  const located = useMemo(() => locateJson(text), [text])
  const apply = useApply(onApply)
  const stepIds = useMemo(() => definition.steps.map(({ id }) => id), [definition.steps])
  // The code editor reads this only once.
  const complete = useRef(completeDefinition(catalog, stepIds))
  complete.current = completeDefinition(catalog, stepIds)
  const shape = 'value' in located ? shapeProblem(located.value) : null
  const wrong =
    'problem' in located ? located.problem : (shape ?? (apply.refused[0] ? inWords(apply.refused[0].message) : null))
  const diagnostics = useMemo(() => {
    if ('problem' in located) return [{ ...located.span, severity: 'error' as const, message: located.problem }]
    const shown = edited ? apply.refused : problems
    return shown.map((problem) => ({
      ...spanOf(located.at, pathOf(problem, located.value)),
      severity: problem.severity,
      message: inWords(textOf(problem)),
    }))
  }, [located, problems, edited, apply.refused])

  return (
    <div className={styles.view}>
      <div className={styles.bar}>
        <Text size="sm" c="dimmed">
          The body of <code>PUT /api/workflows/:id</code>. Step positions are stored separately.
        </Text>
        <Group gap="xs">
          <CopyButton text={text} label="Copy JSON" />
          {!readOnly && edited && (
            <>
              <Button size="compact-sm" variant="default" onClick={discard}>
                Discard
              </Button>
              <Button
                size="compact-sm"
                disabled={'problem' in located || shape !== null}
                loading={apply.busy}
                onClick={() => 'value' in located && apply.run(located.value as unknown as Definition)}
              >
                Apply
              </Button>
            </>
          )}
        </Group>
      </div>
      {apply.error !== null && <ErrorState error={apply.error} title="The JSON could not be checked" />}
      {edited && wrong !== null && (
        <p className={styles.wrong} role="alert">
          {wrong}
        </p>
      )}
      <div className={styles.text}>
        <CodeEditor
          label="Workflow as JSON"
          language="json"
          value={text}
          onChange={(next) => {
            setText(next)
            apply.forget()
          }}
          diagnostics={diagnostics}
          completions={(context) => complete.current(context)}
          readOnly={readOnly}
          minHeight="20rem"
          maxHeight="none"
        />
      </div>
    </div>
  )
}

/** The text being edited. Changes from elsewhere replace it only while it has no edits. */
function useText(definition: Definition) {
  const source = useMemo(() => JSON.stringify(definitionOf(definition), null, 2), [definition])
  const [text, setText] = useState(source)
  const shown = useRef(source)
  useEffect(() => {
    setText((now) => (now === shown.current || sameText(now, source) ? source : now))
    shown.current = source
  }, [source])
  return { text, setText, edited: text !== source, discard: () => setText(source) }
}

function sameText(a: string, b: string): boolean {
  const [one, two] = [locateJson(a), locateJson(b)]
  return 'value' in one && 'value' in two && same(one.value, two.value)
}

/** Checks that the server can store the definition, then applies it. */
function useApply(onApply: (definition: Definition) => void) {
  const trpc = useTRPC()
  const cache = useQueryClient()
  const [busy, setBusy] = useState(false)
  const [refused, setRefused] = useState<Problem[]>([])
  const [error, setError] = useState<unknown>(null)
  async function check(definition: Definition) {
    setBusy(true)
    setError(null)
    try {
      const problems = await cache.fetchQuery({
        ...trpc.workflows.check.queryOptions({ definition }),
        staleTime: 0,
        gcTime: 0,
      })
      const obstacles = problems.filter(({ code }) => code === 'INVALID_INPUT')
      setRefused(obstacles)
      if (obstacles.length === 0) onApply(completed(definition))
    } catch (thrown) {
      setError(thrown)
    } finally {
      setBusy(false)
    }
  }
  return { busy, refused, error, run: (definition: Definition) => void check(definition), forget: () => setRefused([]) }
}

/** Adds the defaults that the server would add. */
function completed(given: Definition): Definition {
  return {
    name: given.name,
    description: given.description ?? '',
    initialStep: given.initialStep ?? given.steps?.[0]?.id ?? null,
    steps: given.steps ?? [],
    edges: given.edges ?? [],
    payload: given.payload ?? {},
    ...optionalSettings(given),
  }
}

const KEYS = ['name', 'description', 'initialStep', 'steps', 'edges', 'payload', ...OPTIONAL_SETTINGS]

function shapeProblem(value: unknown): string | null {
  if (!isObject(value)) return 'A workflow must be a JSON object.'
  const unknown = Object.keys(value).find((key) => !KEYS.includes(key))
  return unknown === undefined ? null : `A workflow has no field ${unknown}.`
}

/** The path of a problem in the whole definition. */
function pathOf({ stepId, field = '' }: Problem, value: unknown): string {
  if (stepId === undefined) return field
  const steps: unknown = isObject(value) ? value.steps : []
  const index = Array.isArray(steps) ? steps.findIndex((step) => isObject(step) && step.id === stepId) : -1
  if (index === -1 || field.startsWith('edges')) return field
  return field === '' ? `steps[${index}].id` : `steps[${index}].${field}`
}
