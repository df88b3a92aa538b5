import { useState } from 'react';
import { Check, ChevronDown, ChevronRight, Download, FileDiff, X } from 'lucide-react';

function save({ name, mime, base64 }) {
  const bytes = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
  const url = URL.createObjectURL(new Blob([bytes], { type: mime }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  document.body.appendChild(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

function Rows({ file }) {
  return (
    <div className="rp-code-scroll rp-diff-scroll" tabIndex={0}>
      <table>
        <tbody>
          {file.rows.map(([kind, before, after, text], at) => (
            <tr key={at} className={{ '+': 'rp-added', '-': 'rp-removed', '@': 'rp-hunk' }[kind] || ''}>
              <td className="rp-line-number">{before}</td>
              <td className="rp-line-number">{after}</td>
              <td className="rp-sign">{kind === '@' ? '' : kind}</td>
              <td><pre>{text || ' '}</pre></td>
            </tr>
          ))}
        </tbody>
      </table>
      {file.more && <div className="rp-muted rp-diff-more">{file.more}</div>}
    </div>
  );
}

// Chainlit evaluates this file again at every update. The component is kept in `window`, so that React sees the same
// one and what the user typed or unfolded stays. All words come from the catalogue, in `props.words`.
const DiffView = (window.repopilotDiffView ||= function ({ props, callAction, sendUserMessage }) {
  const many = props.files.filter((file) => !file.follow_up).length > 3;
  const [failed, setFailed] = useState('');
  const [unfolded, setUnfolded] = useState({});
  const call = async (name, payload) => {
    const result = await callAction({ name, payload: { answer: props.answer, ...payload } });
    setFailed(result?.response?.error || (result?.success ? '' : props.words.no_answer));
    return result?.response;
  };
  const decide = (paths, decision) => call('decide', { paths, decision });
  const download = async (form, path) => {
    const file = await call('download', { form, path });
    if (file?.base64) save(file);
  };
  const isOpen = (file) => unfolded[file.id] ?? (!many && !file.decision && !file.follow_up);
  const toggle = (file) => setUnfolded({ ...unfolded, [file.id]: !isOpen(file) });
  // Follow-ups are accepted one by one.
  const open = props.files.filter((file) => !file.decision && !file.follow_up).map((file) => file.id);
  return (
    <section className="rp-diff rp-code">
      <div className="rp-row">
        <FileDiff size={16} className="rp-muted" />
        <strong>{props.title}</strong>
        <span className="rp-muted rp-grow">{props.note}</span>
        <button className="rp-button rp-primary" disabled={!open.length} onClick={() => decide(open, 'accepted')}><Check size={14} /> {props.words.accept_all}</button>
        <button className="rp-button" onClick={() => download('zip')}><Download size={14} /> {props.words.zip}</button>
        <button className="rp-button" onClick={() => download('patch')}><Download size={14} /> {props.words.patch}</button>
      </div>
      {failed && <div className="rp-error">{failed}</div>}
      {props.files.map((file) => (
        <div key={file.id} className="rp-file" data-path={file.path} data-decision={file.decision}>
          <div className="rp-row rp-file-head">
            <button className="rp-file-name" aria-expanded={isOpen(file)} onClick={() => toggle(file)}>
              {isOpen(file) ? <ChevronDown size={15} /> : <ChevronRight size={15} />}
              <span className="rp-place">{file.path}</span>
            </button>
            <span className="rp-chip rp-chip-soft">{file.change}</span>
            {file.follow_up && <span className="rp-chip rp-chip-soft">{props.words.follow_up}</span>}
            <span className="rp-plus">+{file.added}</span>
            <span className="rp-minus">−{file.removed}</span>
            <span className="rp-grow" />
            {file.decision ? (
              <span className={file.decision === 'accepted' ? 'rp-chip' : 'rp-chip rp-chip-soft'}>{file.outcome}</span>
            ) : (
              <>
                <button className="rp-button" onClick={() => decide([file.id], 'accepted')}><Check size={14} /> {props.words.accept}</button>
                <button className="rp-button" onClick={() => decide([file.id], 'rejected')}><X size={14} /> {props.words.reject}</button>
              </>
            )}
            {!file.deleted && <button className="rp-button" aria-label={file.download} title={file.download} onClick={() => download('file', file.id)}><Download size={14} /></button>}
          </div>
          {file.follow_up && <div className="rp-muted rp-diff-more">{file.follow_up}</div>}
          {isOpen(file) && <Rows file={file} />}
        </div>
      ))}
    </section>
  );
});

export default <DiffView props={props} callAction={callAction} sendUserMessage={sendUserMessage} />;
