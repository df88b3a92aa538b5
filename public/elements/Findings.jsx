import { useState } from 'react';
import { Download, MessageSquarePlus, MessagesSquare, Wrench } from 'lucide-react';

const withCode = (text) => text.split(/`([^`\n]+)`/).map((part, at) => (at % 2 ? <code key={at}>{part}</code> : part));

function Finding({ finding, words, show, fix }) {
  return (
    <div className="rp-finding">
      <div className="rp-row rp-tight">
        <span className="rp-severity" data-severity={finding.severity}>{finding.severity_label}</span>
        {finding.number
          ? <button className="rp-link" onClick={() => show(finding.number)}>{finding.place}</button>
          : <span>{finding.place}</span>}
        <span className="rp-muted">{finding.origin}</span>
        <span className="rp-grow" />
        <button className="rp-button" onClick={() => fix(finding.fix)}><Wrench size={13} /> {words.fix}</button>
      </div>
      <div>{withCode(finding.message)}</div>
      {finding.quote && <pre className="rp-quote">{finding.quote}</pre>}
      {finding.proof && (
        <details>
          <summary>{finding.proof.title}</summary>
          <pre className="rp-quote">{finding.proof.test}</pre>
        </details>
      )}
    </div>
  );
}

// Chainlit evaluates this file again at every update. The component is kept in `window`, so that React sees the same
// one and what the user typed or unfolded stays. All words come from the catalogue, in `props.words`.
const Findings = (window.repopilotFindings ||= function ({ props, callAction, sendUserMessage }) {
  const [failed, setFailed] = useState('');
  const call = async (name, payload) => {
    const result = await callAction({ name, payload: { answer: props.answer, ...payload } });
    setFailed(result?.response?.error || (result?.success ? '' : props.words.no_answer));
    return result?.response;
  };
  const download = async (form) => {
    const file = await call('download', { form });
    if (file?.base64) window.repopilotSave(file);
  };
  const [posting, setPosting] = useState(false);
  const [done, setDone] = useState('');
  const post = async () => {
    setPosting(false);
    setDone((await call('post_review', {}))?.done || '');
  };
  const rest = { words: props.words, show: (number) => call('show_citation', { number }), fix: (task) => sendUserMessage(task, 'generate') };
  return (
    <section className="rp-findings rp-code">
      <div className="rp-row">
        {props.scores.map(([domain, score]) => (
          <span key={domain} className="rp-score" data-grade={score >= 90 ? 'good' : score >= 60 ? 'fair' : 'poor'}>
            {domain} <b>{score}</b>
          </span>
        ))}
        <span className="rp-grow" />
        {props.pull && (
          <>
            <button className="rp-button" onClick={() => (posting ? post() : setPosting(true))}><MessageSquarePlus size={14} /> {posting ? props.words.post_confirm : props.words.post}</button>
            <button className="rp-button" onClick={() => sendUserMessage(props.pull, 'generate')}><MessagesSquare size={14} /> {props.words.comments}</button>
          </>
        )}
        <button className="rp-button" onClick={() => download('sarif')}><Download size={14} /> {props.words.sarif}</button>
        <button className="rp-button" onClick={() => download('markdown')}><Download size={14} /> {props.words.markdown}</button>
      </div>
      {failed && <div className="rp-error">{failed}</div>}
      {done && <div className="rp-note">✓ {done}</div>}
      <div className="rp-file">
        {props.top.map((finding, at) => (
          <div key={at}>
            <div className="rp-place rp-muted rp-finding-path">{finding.path}</div>
            <Finding finding={finding} {...rest} />
          </div>
        ))}
      </div>
      {props.all && (
        <details className="rp-all">
          <summary>{props.all}</summary>
          {props.files.map((file) => (
            <div key={file.path} className="rp-file">
              <div className="rp-row rp-file-head"><span className="rp-place">{file.path}</span><span className="rp-chip rp-chip-soft">{file.findings.length}</span></div>
              {file.findings.map((finding, at) => <Finding key={at} finding={finding} {...rest} />)}
            </div>
          ))}
        </details>
      )}
      {props.folded && (
        <details className="rp-all">
          <summary>{props.folded}</summary>
          {props.opinions.map((finding, at) => (
            <div key={at} className="rp-file">
              <div className="rp-place rp-muted rp-finding-path">{finding.path}</div>
              <Finding finding={finding} {...rest} />
            </div>
          ))}
        </details>
      )}
      {props.more && <div className="rp-muted">{props.more}</div>}
    </section>
  );
});

export default <Findings props={props} callAction={callAction} sendUserMessage={sendUserMessage} />;
