import { Anchor } from '@mantine/core'

/** A button that looks like a link, such as to enter the same value in another way. */
export function TextButton(props: {
  onClick: () => void
  /** What screen readers say, where the text alone would not do. */
  label?: string
  children: string
}) {
  const { onClick, label, children } = props
  return (
    <Anchor component="button" type="button" size="sm" ta="start" aria-label={label} onClick={onClick}>
      {children}
    </Anchor>
  )
}
