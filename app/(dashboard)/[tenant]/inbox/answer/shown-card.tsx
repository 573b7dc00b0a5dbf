import { FieldValue } from '@/app/_ui/fields-view'
import fields from '@/app/_ui/fields-view.module.css'
import { Markdown } from '@/app/_ui/markdown'
import type { ShownValue } from '@/server/definition/shown'

/** The task's card, label by label. */
export function ShownCard({ show }: { show: readonly ShownValue[] }) {
  return (
    <dl className={fields.fields} aria-label="What the task is about">
      {show.map(({ label, value, markdown }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: two values may have the same label
        <div key={index}>
          <dt>{label}</dt>
          <dd>
            {markdown && typeof value === 'string' ? (
              <Markdown text={value} />
            ) : (
              <FieldValue value={value} name={label} />
            )}
          </dd>
        </div>
      ))}
    </dl>
  )
}
