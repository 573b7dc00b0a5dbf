import { FileInput, type FileInputProps } from '@mantine/core'
import { Paperclip } from 'lucide-react'
import { isFileList } from '@/server/definition/file-fields'
import type { Field } from '@/server/definition/schema'
import styles from './files-input.module.css'

/** The picker of a field that takes a file, or several. */
export function FilesInput({
  field,
  kept = false,
  value,
  onChange,
  'aria-required': _required,
  ...props
}: Omit<FileInputProps, 'value' | 'defaultValue' | 'onChange' | 'multiple'> & {
  field: Field
  /** The field has a file already. */
  kept?: boolean
  value: File[]
  onChange: (files: File[]) => void
}) {
  // The picker is a button, which has no `aria-required`.
  const shared = {
    ...props,
    valueComponent: Chosen,
    leftSection: <Paperclip size={16} aria-hidden />,
    clearable: true,
  }
  const label = String(props.label)
  return isFileList(field) ? (
    <FileInput
      {...shared}
      multiple
      placeholder={kept ? 'Choose other files' : 'Choose files'}
      clearButtonProps={{ 'aria-label': `Remove the files of ${label}` }}
      value={value}
      onChange={onChange}
    />
  ) : (
    <FileInput
      {...shared}
      placeholder={kept ? 'Choose another file' : 'Choose a file'}
      clearButtonProps={{ 'aria-label': `Remove the file of ${label}` }}
      value={value[0] ?? null}
      onChange={(file) => onChange(file ? [file] : [])}
    />
  )
}

/** The names of the chosen files, which never make the page wider than it is. */
function Chosen({ value }: { value: null | File | File[] }) {
  const names = [value ?? []].flat().map(({ name }) => name)
  return <span className={styles.chosen}>{names.join(', ')}</span>
}
