/**
 * What the local home of files answers. An S3 store in its place has its own words for the same: its links, too, are
 * followed by clients that know nothing of this service.
 */
export const fileErrors = {
  link_refused: {
    status: 403,
    message:
      'This link does not allow this. Send it exactly as it was given, with the method that it was given for.',
  },
  link_expired: {
    status: 403,
    message:
      'This link has expired. Start another upload, or get the `content` of your video again for a new link.',
  },
  not_uploaded: { status: 404, message: 'No file was uploaded here, or it is deleted already.' },
  method_not_allowed: { status: 405, message: 'Files take PUT, GET and HEAD alone.' },
  already_uploaded: { status: 412, message: 'A file was uploaded here already; start another upload.' },
  precondition_failed: { status: 412, message: 'The file is not as the request says.' },
  length_required: {
    status: 411,
    message: 'Send a Content-Length of {bytes}; chunked bodies are not taken.',
  },
  wrong_size: { status: 400, message: 'Send exactly {bytes} bytes, as the upload was started for.' },
  wrong_type: {
    status: 400,
    message: 'Send the header "Content-Type: {type}", as the upload was started for.',
  },
  wrong_encoding: { status: 400, message: 'Send the file as it is, without Content-Encoding.' },
  range_not_satisfiable: { status: 416, message: 'The file has no such range.' },
  storage_failed: { status: 503, message: 'The file could not be stored or read; try again in a moment.' },
} as const satisfies Record<string, { status: number; message: string }>;

export type FileError = keyof typeof fileErrors;
