/** The most that the files of one form may have together, as on the server. Larger files are uploaded before the form. */
export const MAX_FORM_BYTES = 3_932_160
