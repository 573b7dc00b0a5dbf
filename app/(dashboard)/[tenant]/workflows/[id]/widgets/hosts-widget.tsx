'use client'
import { TagsInput } from '@mantine/core'
import { JsonWidget } from './json-widget'
import { inputProps, type WidgetProps } from './widget'

/** Host names, as on a tool's page. */
export function HostsWidget(props: WidgetProps) {
  const { value = [], onChange } = props
  if (!Array.isArray(value) || value.some((host) => typeof host !== 'string')) return <JsonWidget {...props} />
  return (
    <TagsInput
      {...inputProps(props)}
      placeholder={value.length === 0 ? props.field.placeholder : ''}
      value={value.map(String)}
      maxTags={50}
      acceptValueOnBlur
      onChange={(hosts) => onChange(hosts.length === 0 ? undefined : hosts)}
    />
  )
}
