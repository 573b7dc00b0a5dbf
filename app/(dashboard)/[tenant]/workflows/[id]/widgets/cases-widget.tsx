'use client'
import { freeId } from '../model/definition'
import { type Choice, caseProblem } from './choice-rows'
import { Choices } from './choices'
import { expressionProblem } from './expression-widget'
import { LazyRuleField } from './lazy-rule-field'
import type { WidgetProps } from './widget'

/** The cases of a switch, in the order they are checked: a label, an id and an expression. Each is an exit. */
export function CasesWidget(props: WidgetProps) {
  return (
    <Choices
      {...props}
      noun="case"
      problemOf={caseProblem}
      create={newCase}
      more={({ rest }, rowLabel, change) => {
        const text = typeof rest.when === 'string' ? rest.when : ''
        return (
          <LazyRuleField
            name={`Expression of ${rowLabel}`}
            code
            placeholder='${country} in ["DE", "FR"]'
            value={text}
            error={expressionProblem(text)}
            onChange={(when) => change({ rest: { ...rest, when } })}
            readOnly={props.readOnly}
          />
        )
      }}
    />
  )
}

function newCase(rows: readonly Choice[]): Choice {
  const id = freeId(`case_${rows.length + 1}`, new Set(rows.flatMap((row) => [row.id, row.kept])))
  return { id, kept: id, label: '', follows: true, rest: { when: '' } }
}
